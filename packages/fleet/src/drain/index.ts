export { readDrainFacts, type DrainStep, type DrainRequest, isBeingDrained, nextDrainStep } from './drain-step.ts';
export {
  findBudgets,
  type BudgetLookup,
  keepWhatDecides,
  type PodFacts,
  readPodFacts,
  fingerprintBudgets,
} from './pods.ts';
export { blockedText, type Obstacle } from './blocked-text.ts';
export {
  checksMachine,
  findDownSince,
  isMachineOf,
  isProtected,
  type Machine,
  machineAnnotations,
  type MachineHealthCheck,
  protectedUntil,
  protectNode,
  readMachineReferences,
  readRebootingNodes,
  releaseNode,
  turnOff,
  turnOn,
} from './reboot-protection.ts';
