#!/usr/bin/env bash
# The rows of SST's tables 2 to 4 and of the models it is compared with: one queue trains and measures them all.
#
#     scripts/train_sst_benchmarks.sh DATA OUT ROWS [--jobs 11] [any other option of benchmarks.papers.train]
#
# News has three seeds, the two sets of judgments one. The first seed of all sets comes first, then the other seeds, each
# with table 4 at the end: an interrupted queue leaves complete tables. Finished work is not repeated. Afterwards:
#
#     python -m benchmarks.papers.page ROWS
#
# The backbone knows no Chinese: on legal-zh, subtopics come from shared characters alone (direct), not from its vectors.
set -euo pipefail
data=$1 out=$2 rows=$3
shift 3

models=(cross bert-pli match-ignition opt-match cig)
tables=(sst-{direct,adaptive}-{soft,hard} sst-dual-{direct,adaptive}-{soft,hard})
parts=(sst-{one-view,not-temporal,with-attention,uniform,negative,random,no-separation,no-agreement,no-losses})
only=('*/[!s]*-1' '*/sst-direct-*-1' 'news/sst-adaptive-*-1' 'legal/sst-adaptive-*-1')
only+=('legal*/sst-dual-direct-*-1' 'legal/sst-dual-adaptive-*-1')
only+=('news/[!s]*' 'news/sst-direct-*' 'news/sst-adaptive-*')  # the other seeds
only+=('news/sst-[!d]*-1' 'news/sst-[!d]*')  # table 4

untrained=(tfidf phrases bm25 default sdr sdr-plain sdr-paragraph first mean cls)
also=({news,legal,legal-zh}/{rprs,bertopic,lda})

settings=(workers=1 keep=1 sst-clusters.steps=300)
settings+=(cig.epochs=5 cig.max_tokens=2048 bert-pli.epochs=1 legal/bert-pli.epochs=6 legal-zh/bert-pli.epochs=2)
settings+=({cross,match-ignition,opt-match,sst,bert-pli}.head_learning_rate=5e-5)  # new layers at the same rate, as in the paper
for model in cross match-ignition opt-match sst; do  # as the paper; 10 epochs, unless three validations find nothing better
  settings+=(news/$model.{{,head_}learning_rate=1e-5,schedule=constant,weight_decay=0,validate_every=85})
done
settings+=(news/match-ignition.epochs=5)

# Judgments: BM25's best 40 are reranked, so the models learn from these. They are few: small batches, more steps.
for set in legal legal-zh; do
  settings+=($set/negatives=near $set/{cross,bert-pli,match-ignition,opt-match,cig,sst,sst-dual}.reachable=true)
  settings+=($set/{cross,match-ignition,opt-match,sst}.documents=32 $set/sst-dual.hard_negatives=1)
  settings+=($set/{sst,sst-dual}.sentences=200 $set/sst-clusters.max_sentences=200)
done
settings+=(legal/sst-dual.documents=32 legal/sst-dual.epochs=20 legal-zh/sst-dual.documents=64)

exec "${PYTHON:-python}" -m benchmarks.papers.train "$data" "$out" --measure "$rows" \
  --sets news legal legal-zh --seeds 1 2 3 --jobs 11 --readers 4 --untrained "${untrained[@]}" --also "${also[@]}" \
  --rows "${models[@]}" "${tables[@]}" "${parts[@]}" --only "${only[@]}" "${settings[@]/#/--set=}" "$@"
