"""scikit-learn's ExtraTreesRegressor; its trees are the samples of the prediction."""

from peer import need, tables, write

numpy, ensemble = need("numpy", "sklearn.ensemble")
X, y, X_test = tables()
forest = ensemble.ExtraTreesRegressor(500, min_samples_leaf=2, random_state=1, n_jobs=1).fit(X, y)
out_of_bag = ensemble.ExtraTreesRegressor(500, min_samples_leaf=2, bootstrap=True, oob_score=True, random_state=1,
                                          n_jobs=1).fit(X, y)
spread = numpy.std(y - out_of_bag.oob_prediction_)
trees = numpy.array([tree.predict(X_test) for tree in forest.estimators_]).T
# Trees that agree know nothing of the noise: each row's spread is at least the out-of-bag error's.
mean = trees.mean(1, keepdims=True)
wide = numpy.maximum(1, spread / numpy.maximum(trees.std(1, keepdims=True), 1e-12))
jitter = numpy.random.default_rng(1).normal(0, 1e-9 + 1e-6 * spread, trees.shape)
write([f"tree{k}" for k in range(trees.shape[1])], mean + wide * (trees - mean) + jitter)
