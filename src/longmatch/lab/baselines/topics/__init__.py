"""Topic models as matchers: LDA and BERTopic, fitted on the collection being searched."""
