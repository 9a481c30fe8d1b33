"""GPyTorch's deep GP as in its own example (Adam, 10 samples), with a hidden layer of 5 and 3000 steps or more."""

from peer import need, tables, write_gaussian

torch, gpytorch, deep = need("torch", "gpytorch", "gpytorch.models.deep_gps")
torch.manual_seed(1)
torch.set_num_threads(1)
X, y, X_test = (torch.tensor(part, dtype=torch.float64) for part in tables())
x_mean, x_scale = X.mean(0), X.std(0).clamp_min(1e-10)
y_mean, y_scale = y.mean(), y.std()
X, X_test, y = (X - x_mean) / x_scale, (X_test - x_mean) / x_scale, (y - y_mean) / y_scale


class Layer(deep.DeepGPLayer):
    def __init__(self, inputs, outputs, linear):
        batch = torch.Size([outputs]) if outputs else torch.Size([])
        inducing = torch.randn(*batch, 100, inputs, dtype=torch.float64)
        variational = gpytorch.variational
        distribution = variational.CholeskyVariationalDistribution(100, batch_shape=batch)
        strategy = variational.VariationalStrategy(self, inducing, distribution, learn_inducing_locations=True)
        super().__init__(strategy, inputs, outputs)
        self.mean_module = gpytorch.means.LinearMean(inputs) if linear else gpytorch.means.ConstantMean(batch_shape=batch)
        self.covar_module = gpytorch.kernels.ScaleKernel(
            gpytorch.kernels.RBFKernel(batch_shape=batch, ard_num_dims=inputs), batch_shape=batch)

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


class Network(deep.DeepGP):
    def __init__(self, inputs):
        super().__init__()
        self.hidden, self.last = Layer(inputs, 5, True), Layer(5, None, False)
        self.likelihood = gpytorch.likelihoods.GaussianLikelihood()

    def forward(self, x):
        return self.last(self.hidden(x))


network = Network(X.shape[1]).double()
bound = gpytorch.mlls.DeepApproximateMLL(gpytorch.mlls.VariationalELBO(network.likelihood, network, len(y)))
optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
batches = -(-len(y) // 1024)
for epoch in range(max(300, 3000 // batches)):
    for rows in torch.randperm(len(y)).split(1024):
        with gpytorch.settings.num_likelihood_samples(10):
            optimizer.zero_grad()
            (-bound(network(X[rows]), y[rows])).backward()
            optimizer.step()
network.eval()
with torch.no_grad(), gpytorch.settings.num_likelihood_samples(50):
    predicted = network.likelihood(network(X_test))
    mean = predicted.mean.mean(0)
    variance = predicted.variance.mean(0) + predicted.mean.var(0, unbiased=False)
write_gaussian((mean * y_scale + y_mean).tolist(), (variance.sqrt() * y_scale).tolist())
