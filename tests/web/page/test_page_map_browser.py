"""The map in a real browser."""

import pytest

from tests.web.page.conftest import B

pytestmark = pytest.mark.slow


def test_every_document_is_on_the_map_inside_its_frame(visit, server):
    page = visit().open("#/map")
    known = server.get("/map").json()
    assert page.locator(".point").count() == len(known["points"]) == 33
    inside = """() => {
      const frame = document.querySelector('.map-box').getBoundingClientRect();
      return [...document.querySelectorAll('.point')].every(point => {
        const box = point.getBoundingClientRect();
        return box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;
      });
    }"""
    assert page.evaluate(inside)


def test_clusters_differ_in_colour_and_shape(visit, server):
    page = visit().open("#/map")
    looks = "paths => paths.map(path => getComputedStyle(path).fill + path.getAttribute('d'))"
    found = page.locator(".swatch-mark path").evaluate_all(looks)
    assert len(set(found)) == len(found) == len(server.get("/map").json()["clusters"])


def test_hovering_tells_the_title_and_a_click_opens_the_document(visit, examples):
    page = visit().open("#/map")
    point = page.locator(f'.point[data-id="{B}"]')
    point.hover()
    assert page.locator(".tip b").text_content() == examples[B].title
    point.click()
    page.wait_for_selector(".reader h1")
    assert page.locator("h1").text_content() == examples[B].title


def test_the_map_is_walked_with_the_arrow_keys(visit):
    page = visit().open("#/map")
    page.locator('.point[tabindex="0"]').focus()
    places = set()
    for key in ("ArrowRight", "ArrowDown", "ArrowLeft", "ArrowUp") * 2:
        page.keyboard.press(key)
        places.add(page.evaluate("document.activeElement.dataset.id"))
    assert len(places) > 2 and None not in places
    assert page.locator('.point[tabindex="0"]').count() == 1
    page.keyboard.press("Enter")
    page.wait_for_selector(".reader h1")


def test_a_cluster_of_the_legend_lists_its_documents_and_dims_the_others(visit, server):
    page = visit().open("#/map")
    cluster = server.get("/map").json()["clusters"][0]
    page.locator(".cluster").first.click()
    assert page.locator(".cluster-documents:visible a").count() == cluster["size"]
    assert page.locator(".point:not(.dim)").count() == cluster["size"]
    page.locator(".cluster").first.click()
    assert page.locator(".point.dim").count() == 0


def test_finding_a_title_leaves_its_point_bright(visit):
    page = visit().open("#/map")
    page.get_by_label("Find on the map").fill("calder vale")
    assert page.locator(".point:not(.dim)").evaluate_all("points => points.map(p => p.dataset.id)") == [B]


def test_going_closer_moves_the_points_apart(visit):
    page = visit().open("#/map")
    spread = "points => (xs => Math.max(...xs) - Math.min(...xs))(points.map(p => p.getBoundingClientRect().left))"
    page.wait_for_function(f"() => ({spread})([...document.querySelectorAll('.point')]) > 100")  # it has its size
    before = page.locator(".point").evaluate_all(spread)
    page.get_by_label("Closer").click()
    assert page.locator(".point").evaluate_all(spread) > before * 1.3
    page.get_by_label("The whole map").click()
    assert abs(page.locator(".point").evaluate_all(spread) - before) < 1


BOXES = """texts => texts.map(text => {
  const { left, right, top, bottom } = text.getBoundingClientRect();
  return [left, right, top, bottom];
})"""


@pytest.mark.parametrize("width", [1280, 390])
def test_titles_stand_on_the_map_where_there_is_room_and_cover_nothing(visit, server, width):
    page = visit(width=width).open("#/map")
    page.wait_for_selector(".map-title")
    titles = page.locator(".map-title").all_text_contents()
    assert len(titles) >= (12 if width > 1000 else 5)
    known = [point["title"] for point in server.get("/map").json()["points"]]
    assert all(any(whole.startswith(title.removesuffix(" …")) for whole in known) for title in titles)
    boxes = page.locator(".map-title, .map-label").evaluate_all(BOXES)
    for place, (left, right, top, bottom) in enumerate(boxes[: len(titles)]):
        for other in boxes[:place] + boxes[place + 1 :]:
            apart = left >= other[1] - 2 or other[0] >= right - 2 or top >= other[3] - 4 or other[2] >= bottom - 4
            assert apart, (boxes[place], other)


def test_the_words_of_a_cluster_lie_on_its_documents(visit, server):
    page = visit().open("#/map")
    page.wait_for_selector(".map-label")
    for cluster in server.get("/map").json()["clusters"]:
        own = f".point.c{cluster['number'] % 8}"
        label = page.locator(".map-label").nth(cluster["number"]).bounding_box()
        points = page.locator(own).evaluate_all(BOXES)
        x, y = label["x"] + label["width"] / 2, label["y"] + label["height"] / 2
        reach = 75  # pixels that it may give way
        assert min(p[0] for p in points) - reach < x < max(p[1] for p in points) + reach
        assert min(p[2] for p in points) - reach < y < max(p[3] for p in points) + reach
