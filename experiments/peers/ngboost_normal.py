"""NGBoost with a normal distribution and its own defaults."""

from peer import need, tables, write_gaussian

ngboost, distns = need("ngboost", "ngboost.distns")
X, y, X_test = tables()
model = ngboost.NGBRegressor(Dist=distns.Normal, n_estimators=500, verbose=False, random_state=1).fit(X, y)
predicted = model.pred_dist(X_test)
write_gaussian(predicted.params["loc"], predicted.params["scale"])
