"""scikit-learn's GaussianProcessRegressor: ARD squared exponential with noise, at most 2000 rows."""

from peer import need, tables, write_gaussian

numpy, gaussian_process, kernels = need("numpy", "sklearn.gaussian_process", "sklearn.gaussian_process.kernels")
X, y, X_test = tables()
keep = numpy.random.default_rng(1).permutation(len(y))[:2000]
scale = numpy.where(X.std(0) > 0, X.std(0), 1)
standard = lambda rows: (rows - X.mean(0)) / scale
kernel = kernels.ConstantKernel() * kernels.RBF(numpy.ones(X.shape[1])) + kernels.WhiteKernel(0.1)
gp = gaussian_process.GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=1, random_state=1)
write_gaussian(*gp.fit(standard(X[keep]), y[keep]).predict(standard(X_test), return_std=True))
