export { drainFactsOf, type DrainStep, type DrainRequest, isBeingDrained, nextDrainStep } from './drain-step.ts';
export { budgetsOf, type BudgetLookup, keepWhatDecides, type PodFacts, podFactsOf, stateOf } from './pods.ts';
export { blockedText, type Obstacle } from './blocked-text.ts';
