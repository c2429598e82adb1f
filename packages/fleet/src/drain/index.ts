export { drainFactsOf, type DrainStep, type DrainWish, isBeingDrained, nextDrainStep } from './drain-step.ts';
export { budgetsOf, type BudgetsOf, keepWhatDecides, type PodFacts, podFactsOf, stateOf } from './pods.ts';
export { blockedText, type Obstacle } from './blocked-text.ts';
