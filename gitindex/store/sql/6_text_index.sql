-- All words of the documents in the lexical index, for questions about parts of words. A batch of blobs
-- adds a row with its words, sorted, a blank before and after each. A word may be in several rows.
CREATE TABLE text_words (
    id INTEGER PRIMARY KEY,          -- from a digest of the words: the same words, the same id
    size INTEGER NOT NULL,           -- bytes of the words
    words BLOB NOT NULL              -- compressed unless they begin with a blank
);
