"""The operators of ai.onnx.ml: small models with results worked out by hand or by numpy, as ONNX
backend tests, which `ephost test` runs. Usage: ml_operators.py EPHOST"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from onnx import helper, numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

from operator_cases import messages  # noqa: E402


def floats(*rows):
    return np.array(rows, np.float32)


def texts(*rows):
    return np.array(rows, object)


def ints(*rows):
    return np.array(rows, np.int64)


class Folder:
    """Collects the tests below a folder."""

    def __init__(self, root):
        self.root = pathlib.Path(root)

    def add(self, name, op, inputs, outputs, version=1, **attributes):
        node = messages.node(op, [f"x{i}" for i in range(len(inputs))],
                             [f"y{i}" for i in range(len(outputs))], "ai.onnx.ml", **attributes)
        xs = {f"x{i}": value for i, value in enumerate(inputs)}
        ys = {f"y{i}": value for i, value in enumerate(outputs)}
        infos = [helper.make_value_info(key, messages.type_of(value)) for key, value in ys.items()]
        model = messages.model([node], xs, infos, {"": 15, "ai.onnx.ml": version}, name=name)
        messages.write_test(self.root / name, model, xs, ys)


# ---- Features ------------------------------------------------------------------------------------

def add_features(tests):
    x = floats([1, -2, 3], [4, 5, -6])
    tests.add("array_feature_extractor", "ArrayFeatureExtractor", [x, ints(2, 0)],
              [floats([3, 1], [-6, 4])])
    tests.add("array_feature_extractor_of_texts", "ArrayFeatureExtractor",
              [texts("a", "b", "c"), ints(1)], [texts(["b"])])
    tests.add("binarizer", "Binarizer", [x], [floats([0, 0, 1], [1, 1, 0])], threshold=1.0)
    tests.add("binarizer_of_integers", "Binarizer", [ints(-1, 0, 1)], [ints(0, 0, 1)])
    tests.add("feature_vectorizer", "FeatureVectorizer",
              [x, ints([7, 8], [9, 10])], [floats([1, -2, 3, 7, 8], [4, 5, -6, 9, 10])],
              inputdimensions=[3, 2])
    tests.add("imputer", "Imputer", [floats([np.nan, 1], [2, np.nan])], [floats([8, 1], [2, 9])],
              imputed_value_floats=[8.0, 9.0], replaced_value_float=float("nan"))
    tests.add("imputer_of_integers", "Imputer", [ints([-1, 1], [2, -1])], [ints([5, 1], [2, 5])],
              imputed_value_int64s=[5], replaced_value_int64=-1)
    tests.add("normalizer_max", "Normalizer", [floats([1, 4, 2], [0, 0, 0])],
              [floats([0.25, 1, 0.5], [0, 0, 0])], norm="MAX")
    tests.add("normalizer_l1", "Normalizer", [floats([1, -4, 5])],
              [floats([0.1, -0.4, 0.5])], norm="L1")
    tests.add("normalizer_l2", "Normalizer", [ints([3, -4])], [floats([0.6, -0.8])], norm="L2")
    offset, scale = [1.0, 0.0, 2.0], [1.0, 10.0, 0.5]
    tests.add("scaler", "Scaler", [x], [(x - floats(*offset)) * floats(*scale)], offset=offset,
              scale=scale)
    tests.add("scaler_by_one_number", "Scaler", [ints([1, 2])], [floats([0, 2])], offset=[1.0],
              scale=[2.0])


# ---- Categories ----------------------------------------------------------------------------------

def add_categories(tests):
    categories = {"cats_strings": ["a", "b"], "cats_int64s": [10, 20]}
    tests.add("category_mapper_to_numbers", "CategoryMapper", [texts("b", "a", "z")],
              [ints(20, 10, -7)], default_int64=-7, **categories)
    tests.add("category_mapper_to_texts", "CategoryMapper", [ints([20], [11])],
              [texts(["b"], ["none"])], default_string="none", **categories)
    tests.add("label_encoder_1_to_numbers", "LabelEncoder", [texts("b", "c", "a")], [ints(1, -1, 0)],
              classes_strings=["a", "b"])
    tests.add("label_encoder_1_to_texts", "LabelEncoder", [ints(1, 5, 0)],
              [texts("b", "_Unused", "a")], classes_strings=["a", "b"])
    tests.add("label_encoder_2", "LabelEncoder", [texts("Dori", "Amy", "Sally")], [ints(-1, 5, 6)],
              version=2, keys_strings=["Amy", "Sally"], values_int64s=[5, 6])
    tests.add("label_encoder_2_knows_nan", "LabelEncoder", [floats(np.nan, 1, 2)],
              [texts("nan", "one", "_Unused")], version=2, keys_floats=[float("nan"), 1.0],
              values_strings=["nan", "one"])
    tests.add("label_encoder_2_to_floats", "LabelEncoder", [ints(1, 3)], [floats(0.5, 7)],
              version=2, keys_int64s=[1, 2], values_floats=[0.5, 1.5], default_float=7.0)
    tests.add("label_encoder_4", "LabelEncoder", [np.array([2, 9], np.int32)],
              [np.array([2.5, -1], np.float64)], version=4,
              keys_tensor=numpy_helper.from_array(np.array([1, 2], np.int32)),
              values_tensor=numpy_helper.from_array(np.array([1.5, 2.5])),
              default_tensor=numpy_helper.from_array(np.array([-1.0])))
    tests.add("one_hot_encoder", "OneHotEncoder", [ints([1, 3], [2, 9])],
              [floats([[1, 0, 0], [0, 0, 1]], [[0, 1, 0], [0, 0, 0]])], cats_int64s=[1, 2, 3])
    tests.add("one_hot_encoder_of_texts", "OneHotEncoder", [texts("b", "a")],
              [floats([0, 1], [1, 0])], cats_strings=["a", "b"], zeros=0)
    tests.add("one_hot_encoder_of_floats", "OneHotEncoder", [floats(2.9, np.inf)],
              [floats([0, 1], [0, 0])], cats_int64s=[1, 2])


# ---- Maps ----------------------------------------------------------------------------------------

def one(value, kind=np.float32):
    return kind(value)


def add_maps(tests):
    tests.add("cast_map", "CastMap", [{3: one(1.5), 1: one(2.5)}], [floats([2.5, 1.5])])
    tests.add("cast_map_sparse", "CastMap", [{3: one(1.5), 1: one(2.5)}], [ints([0, 2, 0, 1, 0])],
              cast_to="TO_INT64", map_form="SPARSE", max_map=5)
    tests.add("cast_map_of_texts", "CastMap", [{1: "1.25", 0: "-3"}], [floats([-3, 1.25])])
    tests.add("cast_map_to_texts", "CastMap", [{1: one(0.5), 0: one(-3)}], [texts(["-3", "0.5"])],
              cast_to="TO_STRING")
    tests.add("dict_vectorizer", "DictVectorizer", [{"a": one(4), "c": one(8)}],
              [floats([4, 8, 0, 0])], string_vocabulary=["a", "c", "b", "z"])
    tests.add("dict_vectorizer_of_integers", "DictVectorizer",
              [{7: one(4, np.float64), 9: one(8, np.float64)}], [np.array([[0, 4.0]])],
              int64_vocabulary=[1, 7])
    tests.add("zip_map", "ZipMap", [floats([1, 2], [3, 4])],
              [[{"a": one(1), "b": one(2)}, {"a": one(3), "b": one(4)}]],
              classlabels_strings=["a", "b"])
    tests.add("zip_map_of_integers", "ZipMap", [floats([1, 2])], [[{7: one(1), 8: one(2)}]],
              classlabels_int64s=[7, 8])


# ---- Linear models -------------------------------------------------------------------------------

def logistic(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def add_linear(tests):
    x = floats([1, 2], [3, -4], [0, 0])
    weights, bias = floats([1, 0], [0, 1], [-1, -1]), floats(0.5, 0, 0.25)
    scores = x @ weights.T + bias
    flat = [float(w) for w in weights.flatten()]
    for transform, result in (("NONE", scores), ("LOGISTIC", logistic(scores)),
                              ("SOFTMAX", softmax(scores))):
        tests.add(f"linear_classifier_{transform.lower()}", "LinearClassifier", [x],
                  [ints(*(scores.argmax(axis=1) + 10)), result.astype(np.float32)],
                  classlabels_ints=[10, 11, 12], coefficients=flat,
                  intercepts=[float(b) for b in bias], post_transform=transform)
    tests.add("linear_classifier_of_two", "LinearClassifier", [floats([1, 2], [-3, 1])],
              [texts("yes", "no"), floats([-3, 3], [2, -2])], classlabels_strings=["no", "yes"],
              coefficients=[1.0, 1.0], intercepts=[0.0])
    tests.add("linear_regressor", "LinearRegressor", [x], [(x @ weights.T + bias)],
              coefficients=flat, intercepts=[float(b) for b in bias], targets=3)
    # The normal distribution is below its quartile a quarter of the time.
    tests.add("linear_regressor_probit", "LinearRegressor", [floats([0.25], [0.975], [0.5])],
              [floats([-0.6744898], [1.959964], [0])], coefficients=[1.0], post_transform="PROBIT")
    tests.add("linear_regressor_softmax_zero", "LinearRegressor", [floats([1, 0])],
              [floats([1, 0])], coefficients=[1.0, 0.0, 0.0, 1.0], targets=2,
              post_transform="SOFTMAX_ZERO")


# ---- Support vector machines ---------------------------------------------------------------------

def add_svm(tests):
    x = floats([1, 2], [-1, 0.5])
    vectors = floats([1, 0], [0, 1], [2, 2])
    coefficients, rho = floats(0.5, -1, 2), 0.25
    kernels = {"LINEAR": lambda d, _: d, "POLY": lambda d, _: (0.5 * d + 1) ** 2,
               "SIGMOID": lambda d, _: np.tanh(0.5 * d + 1), "RBF": lambda _, s: np.exp(-0.5 * s)}
    for name, kernel in kernels.items():
        dots = x @ vectors.T
        squares = ((x[:, None, :] - vectors[None]) ** 2).sum(axis=2)
        result = (kernel(dots, squares) @ coefficients + rho)[:, None]
        tests.add(f"svm_regressor_{name.lower()}", "SVMRegressor", [x],
                  [result.astype(np.float32)], kernel_type=name, kernel_params=[0.5, 1.0, 2.0],
                  n_supports=3, support_vectors=[float(v) for v in vectors.flatten()],
                  coefficients=[float(c) for c in coefficients], rho=[rho])
    tests.add("svm_regressor_of_one_class", "SVMRegressor", [floats([1], [-1])], [floats([1], [-1])],
              n_supports=1, support_vectors=[1.0], coefficients=[1.0], rho=[0.0], one_class=1)
    # One vector a class; decisions: 0 against 1, 0 against 2, 1 against 2.
    three = {"classlabels_ints": [0, 1, 2], "vectors_per_class": [1, 1, 1],
             "support_vectors": [1.0, 2.0, 3.0], "coefficients": [1.0, -1.0, 1.0, 2.0, 1.0, -1.0],
             "rho": [0.1, 0.2, 0.3]}
    points = floats([1], [-1])
    k = points @ floats([1, 2, 3])
    decisions = np.stack([k[:, 0] * 1 + k[:, 1] * -1 + 0.1, k[:, 0] * 2 + k[:, 2] * 1 + 0.2,
                          k[:, 1] * 1 + k[:, 2] * -1 + 0.3], axis=1)
    labels = []
    for row in decisions:
        votes = [0, 0, 0]
        for (i, j), decision in zip(((0, 1), (0, 2), (1, 2)), row):
            votes[i if decision > 0 else j] += 1
        labels.append(votes.index(max(votes)))
    tests.add("svm_classifier", "SVMClassifier", [points],
              [ints(*labels), decisions.astype(np.float32)], **three)
    two = {"classlabels_strings": ["a", "b"], "vectors_per_class": [1, 1],
           "support_vectors": [1.0, -1.0], "coefficients": [1.0, -1.0], "rho": [0.0]}
    tests.add("svm_classifier_of_two", "SVMClassifier", [floats([2], [-1])],
              [texts("a", "b"), floats([-4, 4], [2, -2])], **two)
    tests.add("svm_classifier_with_probabilities", "SVMClassifier", [floats([0])],
              [texts("b"), floats([0.5, 0.5])], prob_a=[-1.0], prob_b=[0.0], **two)
    # Equal shares of all pairs make equal classes; no decision is positive, so the later ones win.
    tests.add("svm_classifier_of_equal_classes", "SVMClassifier", [floats([0])],
              [ints(2), floats([1 / 3, 1 / 3, 1 / 3])], **{**three, "rho": [0.0, 0.0, 0.0]},
              prob_a=[-1.0, -1.0, -1.0], prob_b=[0.0, 0.0, 0.0])
    tests.add("svm_classifier_linear", "SVMClassifier", [floats([1, 2])],
              [ints(6), floats([1.5, 2.5])], classlabels_ints=[5, 6],
              coefficients=[1.0, 0.0, 0.0, 1.0], rho=[0.5])


# ---- Trees ---------------------------------------------------------------------------------------

# Tree 0: x0 <= 1 ? leaf 1 : (x1 < 2 ? leaf 3 : leaf 4); tree 1: x1 > 0 ? leaf 1 : leaf 2.
FOREST = {
    "nodes_treeids": [0, 0, 0, 0, 0, 1, 1, 1], "nodes_nodeids": [0, 1, 2, 3, 4, 0, 1, 2],
    "nodes_featureids": [0, 0, 1, 0, 0, 1, 0, 0],
    "nodes_values": [1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "BRANCH_LT", "LEAF", "LEAF", "BRANCH_GT", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 0, 3, 0, 0, 1, 0, 0], "nodes_falsenodeids": [2, 0, 4, 0, 0, 2, 0, 0],
    "nodes_missing_value_tracks_true": [1, 0, 0, 0, 0, 0, 0, 0],
}
POINTS = floats([1, 3], [2, 1], [2, 2], [np.nan, -1])


def votes(prefix, ids, weights):
    return {f"{prefix}_treeids": [0, 0, 0, 1, 1], f"{prefix}_nodeids": [1, 3, 4, 1, 2],
            f"{prefix}_ids": ids, f"{prefix}_weights": weights}


def add_trees(tests):
    # The leaves of the points: (1, 1), (3, 1), (4, 1), (1, 2).
    weights = [1.0, 2.0, 4.0, 10.0, 20.0]
    leaves = [(1.0, 10.0), (2.0, 10.0), (4.0, 10.0), (1.0, 20.0)]
    aggregates = {"SUM": sum, "AVERAGE": lambda pair: sum(pair) / 2, "MIN": min, "MAX": max}
    for name, aggregate in aggregates.items():
        tests.add(f"tree_regressor_{name.lower()}", "TreeEnsembleRegressor", [POINTS],
                  [floats(*[[aggregate(pair) + 0.5] for pair in leaves])], n_targets=1,
                  aggregate_function=name, base_values=[0.5], **FOREST,
                  **votes("target", [0] * 5, weights))
    tests.add("tree_regressor_of_two_targets", "TreeEnsembleRegressor", [POINTS],
              [floats(*leaves)], n_targets=2, **FOREST, **votes("target", [0, 0, 0, 1, 1], weights))
    doubles = {**FOREST, **votes("target", [0] * 5, None)}
    doubles["nodes_values_as_tensor"] = numpy_helper.from_array(
        np.array(doubles.pop("nodes_values")))
    del doubles["target_weights"]
    doubles["target_weights_as_tensor"] = numpy_helper.from_array(np.array(weights))
    tests.add("tree_regressor_3", "TreeEnsembleRegressor", [POINTS.astype(np.float64)],
              [floats(*[[sum(pair)] for pair in leaves])], version=3, n_targets=1, **doubles)
    tests.add("tree_classifier", "TreeEnsembleClassifier", [POINTS],
              [texts("z", "y", "x", "z"), floats([2, 0, 3], [2, 4, 0], [10, 0, 0], [0, 0, 8])],
              classlabels_strings=["x", "y", "z"],
              **FOREST, **votes("class", [2, 1, 0, 0, 2], [3.0, 4.0, 8.0, 2.0, 5.0]))
    shares = [0.25, 0.5, 0.0, 0.125, 0.375]
    tests.add("tree_classifier_of_two_by_shares", "TreeEnsembleClassifier", [POINTS],
              [ints(7, 8, 7, 8),
               floats([0.625, 0.375], [0.375, 0.625], [0.875, 0.125], [0.375, 0.625])],
              classlabels_int64s=[7, 8], **FOREST, **votes("class", [0] * 5, shares))
    signed = np.array([-1.0, 2.0])
    tests.add("tree_classifier_of_two_by_decisions", "TreeEnsembleClassifier", [POINTS[:2]],
              [ints(7, 8), logistic(np.stack([-signed, signed], axis=1)).astype(np.float32)],
              classlabels_int64s=[7, 8], post_transform="LOGISTIC",
              **FOREST, **votes("class", [0] * 5, [-1.0, 2.0, 1.0, 0.0, 1.0]))
    # One base value is that of the class that the leaves vote for.
    tests.add("tree_classifier_of_two_with_one_base_value", "TreeEnsembleClassifier", [POINTS],
              [ints(7, 8, 7, 8),
               floats([0.5625, 0.4375], [0.3125, 0.6875], [0.8125, 0.1875], [0.3125, 0.6875])],
              classlabels_int64s=[7, 8], base_values=[0.0625], **FOREST,
              **votes("class", [0] * 5, shares))
    # The label is the top class, although ONNX Runtime compares 0.25 with 0.5.
    tests.add("tree_classifier_of_two_by_positive_decisions", "TreeEnsembleClassifier", [POINTS[:1]],
              [ints(8), logistic(np.array([[-0.25, 0.25]])).astype(np.float32)],
              classlabels_int64s=[7, 8], post_transform="LOGISTIC",
              **FOREST, **votes("class", [0] * 5, [0.125, 0.25, 0.5, 0.125, 0.5]))
    # Node 0: x0 <= 1 ? leaf 0 : node 1; node 1: x1 in {1, 5} ? leaf 1 : leaf 2.
    for kind in (np.float32, np.float64):
        tests.add(f"tree_ensemble_{np.dtype(kind).name}", "TreeEnsemble",
                  [np.array([[0, 0], [2, 5], [2, 2], [2, 1]], kind)],
                  [np.array([[1, 0], [0, 2], [4, 0], [0, 2]], kind)], version=5, n_targets=2,
                  tree_roots=[0], nodes_featureids=[0, 1], nodes_truenodeids=[0, 1],
                  nodes_trueleafs=[1, 1], nodes_falsenodeids=[1, 2], nodes_falseleafs=[0, 1],
                  leaf_targetids=[0, 1, 0],
                  nodes_modes=numpy_helper.from_array(np.array([0, 6], np.uint8)),
                  nodes_splits=numpy_helper.from_array(np.array([1, 0], kind)),
                  leaf_weights=numpy_helper.from_array(np.array([1, 2, 4], kind)),
                  membership_values=numpy_helper.from_array(np.array([1, 5, np.nan], kind)))


# ---- Invalid models -----------------------------------------------------------------------------

def add_refusals(tests):
    """What `ephost test` says of each, by name."""
    said = {}

    def refuse(name, message, op, inputs, version=1, **attributes):
        outputs = [floats([0])] if op != "ZipMap" else [[{"a": one(1)}]]
        if op.endswith("Classifier"):
            outputs = [ints(0), floats([0])]
        tests.add(name, op, inputs, outputs, version, **attributes)
        said[name] = message

    def refuse_tree(name, message, **changes):
        refuse(name, message, "TreeEnsembleRegressor", [POINTS],
               **{**FOREST, **votes("target", [0] * 5, [1.0] * 5), "n_targets": 1, **changes})

    refuse_tree("cycle", "cannot be reached from a root", nodes_truenodeids=[1, 0, 0, 0, 0, 1, 0, 0])
    refuse_tree("roots", "has 2 nodes without a parent", nodes_truenodeids=[1, 0, 4, 0, 0, 1, 0, 0])
    refuse_tree("no_child", "tree 0 has no node 77", nodes_truenodeids=[1, 0, 77, 0, 0, 1, 0, 0])
    refuse_tree("feature", "use 10 features", nodes_featureids=[0, 0, 9, 0, 0, 1, 0, 0])
    refuse_tree("target", "target_ids", target_ids=[0, 0, 3, 0, 0])
    refuse_tree("mode", "is not a node mode", nodes_modes=["X"] * 8)
    refuse_tree("too_short", "has 1 entries, expected 8", nodes_values=[1.0])
    refuse_tree("twice", "is defined twice", nodes_nodeids=[0, 0, 2, 3, 4, 0, 1, 2])
    refuse("loop", "node 0 has two parents", "TreeEnsemble", [floats([1, 2])], version=5,
           tree_roots=[0], nodes_featureids=[0], nodes_truenodeids=[0], nodes_trueleafs=[0],
           nodes_falsenodeids=[0], nodes_falseleafs=[1], leaf_targetids=[0],
           nodes_modes=numpy_helper.from_array(np.array([0], np.uint8)),
           nodes_splits=numpy_helper.from_array(floats(1)),
           leaf_weights=numpy_helper.from_array(floats(1)))
    refuse("zip_map", "one column for each of the 1 labels", "ZipMap", [floats([1, 2, 3])],
           classlabels_strings=["a"])
    refuse("cast_map", "key -1 is outside of 0..1", "CastMap", [{-1: one(1)}], map_form="SPARSE",
           max_map=2)
    refuse("svm", "has a negative number", "SVMClassifier", [floats([1])], classlabels_ints=[0, 1],
           vectors_per_class=[5, -1], support_vectors=[1.0], coefficients=[1.0], rho=[0.0])
    refuse("linear", "do not fit 2 features and 3 results", "LinearClassifier", [floats([1, 2])],
           classlabels_ints=[0, 1, 2], coefficients=[1.0])
    refuse("label_encoder", "2 keys and 1 values", "LabelEncoder", [texts("a")], version=2,
           keys_strings=["a", "b"], values_int64s=[1])
    return said


def check_refusals(ephost):
    """The number of models that were not refused as they should."""
    with tempfile.TemporaryDirectory() as folder:
        said = add_refusals(Folder(folder))
        result = subprocess.run([ephost, "test", folder], check=False, capture_output=True, text=True, timeout=1500)
    lines = dict(line[len("FAIL "):].split(": ", 1) for line in result.stdout.splitlines()
                 if line.startswith("FAIL "))
    wrong = [name for name, message in said.items()
             if not (lines.get(name, "").startswith("INVALID_") and message in lines[name])]
    for name in wrong:
        print(f"{name}: expected '{said[name]}', found '{lines.get(name)}'")
    return len(wrong)


def main():
    if check_refusals(sys.argv[1]) != 0:
        sys.exit(1)
    with tempfile.TemporaryDirectory() as folder:
        tests = Folder(folder)
        for add in (add_features, add_categories, add_maps, add_linear, add_svm, add_trees):
            add(tests)
        sys.exit(subprocess.run([sys.argv[1], "test", folder], check=False, timeout=1500).returncode)


if __name__ == "__main__":
    main()
