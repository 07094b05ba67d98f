"""Operators of ai.onnx.ml whose inputs and outputs are tensors."""

import itertools

import numpy as np

from operator_cases.case import Case, array, floats, integers, longs, texts

TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")


def case(op_type, name, inputs, outputs=1, version=1, opset=17, **attributes):
    return Case(op_type, name, inputs, opset, outputs, "ai.onnx.ml", version=version, **attributes)


def numbers(name, *shape, low=-1.0, high=1.0):
    return [float(number) for number in floats(*shape, low=low, high=high).make(name).flatten()]


def cases():
    yield from features()
    yield from linear()
    yield from vectors()
    yield from trees()
    yield from ensembles()


def features():
    x = floats(4, 3)
    yield case("ArrayFeatureExtractor", "floats", [x, longs(2, 0)])
    yield case("ArrayFeatureExtractor", "texts", [texts([["a", "b"], ["c", "d"]]), longs(1)])
    yield case("Binarizer", "plain", [x], threshold=0.3)
    for dtype in (np.float32, np.float64, np.int64, np.int32):
        given = integers(4, 3).make("scaler").astype(dtype)
        yield case("Scaler", np.dtype(dtype).name, [given], offset=[1.0, 2.0, 3.0], scale=[0.5, 2.0, 1.0])
    yield case("Scaler", "of one", [x], offset=[1.0], scale=[0.5])
    for norm in ("MAX", "L1", "L2"):
        yield case("Normalizer", norm, [x], norm=norm)
        yield case("Normalizer", norm + " of zeros", [array([[0, 0, 0], [1, -2, 2]])], norm=norm)
    yield case("Imputer", "floats", [array([[1, np.nan, 3], [np.nan, 5, 6]])], imputed_value_floats=[7.0, 8.0, 9.0],
               replaced_value_float=float("nan"))
    yield case("Imputer", "ints", [array([[1, -1, 3]], np.int64)], imputed_value_int64s=[7], replaced_value_int64=-1)
    yield case("OneHotEncoder", "ints", [longs(1, 3, 7)], cats_int64s=[1, 2, 3], zeros=1)
    yield case("OneHotEncoder", "texts", [texts(["b", "x"])], cats_strings=["a", "b"], zeros=1)
    yield case("FeatureVectorizer", "floats", [floats(2, 2), floats(2, 3)], inputdimensions=[2, 3])
    yield case("LabelEncoder", "texts to ints", [texts(["a", "b", "z"])], version=2, keys_strings=["a", "b"],
               values_int64s=[5, 6], default_int64=-3)
    yield case("LabelEncoder", "ints to texts", [longs(1, 2, 9)], version=2, keys_int64s=[1, 2],
               values_strings=["x", "y"])
    yield case("LabelEncoder", "floats to floats", [array([1, np.nan, 5])], version=2, keys_floats=[1.0, float("nan")],
               values_floats=[0.5, 0.25], default_float=-1.0)
    yield case("LabelEncoder", "tensors", [array([1, 2, 9], np.int64)], version=4, opset=20, keys_tensor=longs(1, 2),
               values_tensor=array([0.5, 0.25], np.float64), default_tensor=array([9], np.float64))


def linear():
    x = floats(4, 3)
    for transform, targets in itertools.product(TRANSFORMS, (1, 3)):
        if transform == "PROBIT" and targets == 3:
            continue
        yield case("LinearRegressor", f"{transform} {targets}", [x], coefficients=numbers(f"l{targets}", targets, 3),
                   intercepts=numbers(f"i{targets}", targets), targets=targets, post_transform=transform)
    for transform in TRANSFORMS[:4]:
        yield case("LinearClassifier", f"{transform} 3", [x], 2, coefficients=numbers("lc", 3, 3),
                   intercepts=numbers("li", 3),
                   classlabels_ints=[4, 5, 6], post_transform=transform)
        yield case("LinearClassifier", f"{transform} 2", [x], 2, coefficients=numbers("ld", 2, 3),
                   intercepts=numbers("lj", 2),
                   classlabels_strings=["a", "b"], post_transform=transform)
    yield case("LinearClassifier", "ints", [integers(4, 3)], 2, coefficients=numbers("lc", 3, 3), intercepts=[0.0] * 3,
               classlabels_ints=[4, 5, 6])


def vectors():
    x = floats(5, 3)
    for kernel, transform in itertools.product(("LINEAR", "POLY", "RBF", "SIGMOID"), ("NONE", "LOGISTIC")):
        given = {"kernel_type": kernel, "kernel_params": [0.4, 0.3, 2.0], "post_transform": transform}
        yield case("SVMRegressor", f"{kernel} {transform}", [x], n_supports=4, support_vectors=numbers("sv", 4, 3),
                   coefficients=numbers("sc", 4), rho=[0.2], **given)
        for classes, labels in ((2, [0, 1]), (3, [0, 1, 2])):
            pairs = classes * (classes - 1) // 2
            for with_shares in (False, True):
                shares = {"prob_a": numbers("pa", pairs), "prob_b": numbers("pb", pairs)} if with_shares else {}
                yield case("SVMClassifier", f"{kernel} {transform} {classes} {int(with_shares)}", [x], 2,
                           classlabels_ints=labels, vectors_per_class=[2] * classes,
                           support_vectors=numbers(f"cv{classes}", 2 * classes, 3),
                           coefficients=numbers(f"cc{classes}", (classes - 1) * 2 * classes),
                           rho=numbers(f"cr{classes}", pairs),
                           **shares, **given)
    yield case("SVMRegressor", "one class", [x], n_supports=4, support_vectors=numbers("sv", 4, 3),
               coefficients=numbers("sc", 4), rho=[0.2], one_class=1)


# Two trees of depth 2 over two features.
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")


def forest(mode):
    tree = {"nodeids": range(7), "featureids": [0, 1, 0, 0, 0, 0, 0], "values": [0.5, -0.25, 0.75, 0, 0, 0, 0],
            "modes": [mode] * 3 + ["LEAF"] * 4, "truenodeids": [1, 3, 5, 0, 0, 0, 0],
            "falsenodeids": [2, 4, 6, 0, 0, 0, 0],
            "missing_value_tracks_true": [1, 0, 1, 0, 0, 0, 0]}
    made = {f"nodes_{key}": [float(each) if key == "values" else each for each in list(values) * 2]
            for key, values in tree.items()}
    made["nodes_featureids"][7:] = [1, 0, 1, 0, 0, 0, 0]
    made["nodes_treeids"] = [0] * 7 + [1] * 7
    return made


def leaves(prefix, ids, weights):
    return {f"{prefix}_treeids": [0] * 4 + [1] * 4, f"{prefix}_nodeids": [3, 4, 5, 6] * 2, f"{prefix}_ids": ids,
            f"{prefix}_weights": weights}


def trees():
    x = np.concatenate([floats(6, 2, low=-1, high=1).make("tree"), array([[0.5, -0.25], [0.75, 0.5], [np.nan, 0]])])
    weights = numbers("tw", 8)
    positive = [abs(weight) for weight in weights]
    three = [0, 1, 2, 0, 1, 2, 0, 1]
    for mode in MODES:
        yield case("TreeEnsembleRegressor", mode, [x], n_targets=1, **forest(mode),
                   **leaves("target", [0] * 8, weights))
        yield case("TreeEnsembleClassifier", mode, [x], 2, classlabels_int64s=[3, 4, 5], **forest(mode),
                   **leaves("class", three, positive))
    for aggregate, targets in itertools.product(("SUM", "AVERAGE", "MIN", "MAX"), (1, 2)):
        ids = [i % targets for i in range(8)]
        yield case("TreeEnsembleRegressor", f"{aggregate} {targets}", [x], n_targets=targets,
                   aggregate_function=aggregate,
                   base_values=[0.5] * targets, **forest("BRANCH_LEQ"), **leaves("target", ids, weights))
    for transform in TRANSFORMS[:4]:
        yield case("TreeEnsembleRegressor", transform, [x], n_targets=2, post_transform=transform,
                   **forest("BRANCH_LEQ"),
                   **leaves("target", [0, 1] * 4, weights))
        for name, chosen in (("positive", positive), ("signed", weights)):
            yield case("TreeEnsembleClassifier", f"{transform} 3 {name}", [x], 2, classlabels_strings=["a", "b", "c"],
                       post_transform=transform, **forest("BRANCH_LEQ"), **leaves("class", three, chosen))
        for name, chosen, ids in (("positive", positive, [0] * 8), ("signed", weights, [0] * 8),
                                  ("both", weights, [0, 1] * 4)):
            yield case("TreeEnsembleClassifier", f"{transform} 2 {name}", [x], 2, classlabels_int64s=[7, 8],
                       post_transform=transform, **forest("BRANCH_LEQ"), **leaves("class", ids, chosen))
    yield case("TreeEnsembleRegressor", "double", [x.astype(np.float64)], n_targets=1, **forest("BRANCH_LEQ"),
               **leaves("target", [0] * 8, weights))


def ensembles():
    for dtype, aggregate, transform in itertools.product((np.float32, np.float64), (0, 1, 2, 3), (0, 1, 2, 3)):
        x = floats(6, 2, low=-1, high=1).make("ensemble").astype(dtype)
        # Node 0: x0 <= 0.1 ? node 1 : leaf 2; node 1: x1 > -0.2 ? leaf 0 : leaf 1.
        yield case("TreeEnsemble", f"{np.dtype(dtype).name} {aggregate} {transform}", [x], version=5, opset=21,
                   n_targets=2,
                   aggregate_function=aggregate, post_transform=transform, tree_roots=[0], nodes_featureids=[0, 1],
                   nodes_truenodeids=[1, 0], nodes_trueleafs=[0, 1], nodes_falsenodeids=[2, 1], nodes_falseleafs=[1, 1],
                   leaf_targetids=[0, 1, 0], nodes_modes=array([0, 3], np.uint8),
                   nodes_splits=array([0.1, -0.2], dtype),
                   leaf_weights=array([0.5, 0.75, -1], dtype))
    yield case("TreeEnsemble", "members", [array([[0, 0], [2, 5], [2, 2], [2, 1]])], version=5, opset=21, n_targets=2,
               tree_roots=[0], nodes_featureids=[0, 1], nodes_truenodeids=[0, 1], nodes_trueleafs=[1, 1],
               nodes_falsenodeids=[1, 2], nodes_falseleafs=[0, 1], leaf_targetids=[0, 1, 0],
               nodes_modes=array([0, 6], np.uint8), nodes_splits=array([1, 0]), leaf_weights=array([1, 2, 4]),
               membership_values=array([1, 5, np.nan]))
