for (const root of document.querySelectorAll(".comparison")) mountMatch(root);
