"""scikit-learn's ExtraTreesRegressor with a scale model from its out-of-bag residuals."""

from peer import log_sizes, need, tables, write_scaled

numpy, ensemble = need("numpy", "sklearn.ensemble")
X, y, X_test = tables()


def trees(**options):
    return ensemble.ExtraTreesRegressor(500, random_state=1, n_jobs=1, **options)


mean = trees().fit(X, y).predict(X_test)
# Only trees that have not seen a row know how far off the forest is there.
residuals = y - trees(bootstrap=True, oob_score=True).fit(X, y).oob_prediction_
scale = trees(bootstrap=True, oob_score=True, min_samples_leaf=5).fit(X, log_sizes(residuals))
write_scaled(mean, residuals, scale.oob_prediction_, scale.predict(X_test))
