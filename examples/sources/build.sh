#!/usr/bin/env bash
# Rebuild the DOCX and PDF documents of the example collection from the sources in this folder.
# Needs LibreOffice and pdflatex. Usage: build.sh [OUTPUT FOLDER], by default ../collection.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
collection=$here/../collection
out=$(mkdir -p "${1:-$collection}" && cd "${1:-$collection}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for source in "$here"/*.{html,fodt,tex}; do
  name=$(basename "${source%.*}")
  if [[ $source == *.tex ]]; then
    for _ in 1 2; do pdflatex -interaction=nonstopmode -output-directory "$scratch" "$source" >/dev/null; done
    cp "$scratch/$name.pdf" "$out/"
    continue
  fi
  options=()
  [[ $source == *.html ]] && options+=("--infilter=HTML (StarWriter)")
  # A source becomes the format its document already has in the collection.
  target="docx:MS Word 2007 XML"
  [[ -e $collection/$name.pdf ]] && target=pdf
  soffice --headless "-env:UserInstallation=file://$scratch/profile" "${options[@]}" \
    --convert-to "$target" --outdir "$out" "$source" >/dev/null 2>&1
done
