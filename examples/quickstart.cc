#include <fathom/fathom.h>

#include <iostream>

int main() {
  const auto train = fathom::MakeDataset(fathom::ReadTable("mountain_car_train.csv"), {"value"});
  const auto test = fathom::MakeDataset(fathom::ReadTable("mountain_car_test.csv"), {"value"});
  fathom::SaveModel(fathom::Fit(train), "car.fathom");
  const fathom::ModelPredictor model(fathom::LoadModel("car.fathom"));
  const fathom::Prediction y = model.Predict(test.inputs());
  std::cout << "first row: " << y.Mean()(0, 0) << ", 95 % between " << y.Quantile(0, 0, 0.025)
            << " and " << y.Quantile(0, 0, 0.975)
            << "\nlog likelihood: " << fathom::Evaluate(y, test.targets()).mean_log_likelihood
            << "\n";
}
