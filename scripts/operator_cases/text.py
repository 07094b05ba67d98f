"""Strings."""

from operator_cases.case import Case, longs, texts


def cases():
    words = texts([["hello world", " a  b ", ""], ["a,b,,c", "ünï cödé", "x"]])
    yield Case("StringConcat", "broadcast", [words, texts(["1", "2", "3"])], 20)
    yield Case("StringConcat", "scalar", [texts("a"), texts("b")], 20)
    yield Case("StringConcat", "nothing", [texts([]), texts(["b"])], 20)
    for name, attributes in (("default", {}), ("comma", {"delimiter": ","}), ("space", {"delimiter": " "}),
                             ("most", {"maxsplit": 1}),
                             ("comma most", {"delimiter": ",", "maxsplit": 2}), ("empty", {"delimiter": ""}),
                             ("long", {"delimiter": "lo"})):
        yield Case("StringSplit", name, [words], 20, 2, **attributes)
    yield Case("StringSplit", "nothing", [texts([])], 20, 2)
    yield Case("StringSplit", "of empty texts", [texts(["", ""])], 20, 2)
    yield Case("StringSplit", "scalar", [texts("a b c")], 20, 2)
    mixed = texts(["abc", "abcd", "ABC", "", "a.c", "123", "a@b.com", "aaa", "über", "a\nc"])
    for i, pattern in enumerate(("abc", "a.c", r"a\.c", "[a-z]+", "[a-z]*", r"\d+", "(abc|123)", "a{2,3}", "^abc$",
                                 "a?b?c?d?", ".*",
                                 r"[\w.]+@[\w.]+\.com", "(?i)abc", r"\w+", "[^a]+", "a+?", "", r"\p{Lu}+", r"\x61bc",
                                 "(a|ab)(c|bcd)", "[[:alpha:]]+", "(?:ab)+c")):
        yield Case("RegexFullMatch", f"{i}", [mixed], 20, pattern=pattern)
    yield Case("RegexFullMatch", "broken", [mixed], 20, pattern="(a", is_valid=False)
    lines = texts(["Monday", "tuesday", "WEDNESDAY", "the", "The"])
    for action in ("NONE", "LOWER", "UPPER"):
        for sensitive in (0, 1):
            yield Case("StringNormalizer", f"{action} {sensitive}", [lines], 10, case_change_action=action,
                       is_case_sensitive=sensitive, stopwords=["the", "monday"])
    yield Case("StringNormalizer", "row", [texts([["a", "b", "c"]])], 10, stopwords=["b"], is_case_sensitive=1)
    yield Case("StringNormalizer", "all stopped", [texts(["a", "a"])], 10, stopwords=["a"], is_case_sensitive=1)
    for mode in ("TF", "IDF", "TFIDF"):
        for skips in (0, 2):
            yield Case("TfIdfVectorizer", f"{mode} {skips}", [longs(1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8)], 9, mode=mode,
                       min_gram_length=1, max_gram_length=2, max_skip_count=skips, ngram_counts=[0, 4],
                       ngram_indexes=[0, 1, 2, 3, 4, 5, 6], pool_int64s=[2, 3, 5, 4, 5, 6, 7, 8, 6, 7],
                       weights=None if mode == "TF" else [0.5, 1.0, 2.0, 3.0, 1.5, 0.25, 4.0])
    yield Case("TfIdfVectorizer", "texts", [texts([["a", "b", "a"], ["b", "c", "d"]])], 9, mode="TF", min_gram_length=1,
               max_gram_length=2, max_skip_count=0, ngram_counts=[0, 2], ngram_indexes=[0, 1, 2, 3],
               pool_strings=["a", "b", "a", "b", "c", "d"])
