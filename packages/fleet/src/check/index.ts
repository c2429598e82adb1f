// The verdict on one object as a user would create it: the same for validate, render, plan, the controllers and
// admission (docs/adr/0033).
export { type CheckedObject, checkObject, checkShape, type Finding, isOfKind } from './check-object.ts';
export {
  formatUnselected,
  type LabelledMachineConfig,
  type SelectingPool,
  unselectedMachineConfigs,
} from './unselected.ts';
