"""CoLDE (Jha et al., 2021 and 2023): a supervised contrastive encoder with document, section and chunk vectors."""
