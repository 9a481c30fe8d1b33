"""XGBoost with a scale model: see boosted_with_scale."""

from peer import boosted_with_scale, need, tables

xgboost = need("xgboost")


def fit(X, y, X_held_out, y_held_out):
    booster = xgboost.XGBRegressor(n_estimators=5000, max_depth=8, learning_rate=0.05, subsample=0.8, n_jobs=1,
                                   early_stopping_rounds=50, random_state=1)
    booster.fit(X, y, eval_set=[(X_held_out, y_held_out)], verbose=False)
    return booster.predict


boosted_with_scale(fit, *tables())
