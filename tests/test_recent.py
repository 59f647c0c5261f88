"""What was used last is kept, and no more than asked for."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from longmatch.recent import Recent


@given(st.lists(st.integers(0, 5)), st.integers(0, 4))
def test_the_keys_used_last_are_kept_and_the_others_made_again(keys: list[int], most: int) -> None:
    recent, kept, made, expected = Recent[int, int](most), list[int](), list[int](), list[int]()

    def making(key: int) -> Callable[[], int]:
        def make() -> int:
            made.append(key)
            return -key

        return make

    for key in keys:
        if key not in kept:
            expected.append(key)
        kept = [*(other for other in kept if other != key), key][-most:] if most else []
        assert recent.get(key, making(key)) == -key
        assert recent.values() == [-other for other in kept]
        assert len(recent) == len(kept) and all(other in recent for other in kept)
    assert made == expected
