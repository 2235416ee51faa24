-- Which blobs may contain some text: the words of a batch of blobs, each with the blobs that have it.
-- A blob that no segment names, or whose segment cannot be read, may contain anything.
CREATE TABLE text_segments (
    id INTEGER PRIMARY KEY,
    head BLOB NOT NULL               -- its blobs, and how many words it has
);

-- Words of a segment, sorted, in blocks, a blank before and after each. The row before the first block
-- is a filter: for each bucket of three symbols side by side, a bit for each block that has them.
CREATE TABLE text_words (
    id INTEGER PRIMARY KEY,          -- segment and block
    words BLOB NOT NULL
);

-- For a few words in the same order: the blobs that have each.
CREATE TABLE text_postings (
    id INTEGER PRIMARY KEY,          -- segment and chunk
    postings BLOB NOT NULL
);
