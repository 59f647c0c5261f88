"""Topic rows: documents compared by what they are about, LDA and BERTopic's steps, fitted on the collection asked."""
