export { drainFactsOf, type DrainWish, isBeingDrained } from './drain-facts.ts';
export { type DrainStep, nextDrainStep } from './next-drain-step.ts';
export { budgetsOf, type BudgetsOf, keepWhatDecides, stateOf } from './pod-budgets.ts';
export { type PodFacts, podFactsOf } from './pod-facts.ts';
export { blockedText, type Obstacle } from './blocked-text.ts';
