"""LightGBM with a scale model: see boosted_with_scale."""

from peer import boosted_with_scale, need, tables

lightgbm = need("lightgbm")


def fit(X, y, X_held_out, y_held_out):
    booster = lightgbm.LGBMRegressor(n_estimators=5000, learning_rate=0.05, num_leaves=31, subsample=0.8,
                                     subsample_freq=1, n_jobs=1, random_state=1, verbose=-1)
    booster.fit(X, y, eval_set=[(X_held_out, y_held_out)], callbacks=[lightgbm.early_stopping(50, verbose=False)])
    return booster.predict


boosted_with_scale(fit, *tables())
