"""The REST interface over a library, and the page that uses it. Needs the extra `web`: pip install 'longmatch[web]'."""
