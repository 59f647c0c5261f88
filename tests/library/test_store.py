"""LanceDB is imported without the REST client that nothing calls, and the client is whole for whoever does."""

import subprocess
import sys


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_the_clients_interfaces_are_not_imported_with_lancedb():
    code = (
        "import sys; from longmatch.library.store import load_lancedb; lancedb = load_lancedb(); "
        "print(callable(lancedb.connect), any(n.startswith('lance_namespace_urllib3_client.api') for n in sys.modules))"
    )
    assert run(code) == "True False"


def test_a_name_of_the_client_brings_all_of_it():
    code = (
        "from longmatch.library.store import load_lancedb; load_lancedb(); "
        "import lance_namespace_urllib3_client as client; print(client.ApiClient.__name__, hasattr(client, 'nothing'))"
    )
    assert run(code) == "ApiClient False"
