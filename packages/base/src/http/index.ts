export {
  agentDefaults,
  type AgentOptions,
  type Certificates,
  createAgent,
  inspectCertificates,
  trustAuthorities,
} from './agent.ts';
export { createDeadline, type Deadline, parseRetryAfter, readBounded, throwIfStopped } from './exchange.ts';
export { classifyFailure, type Failure, type FailureKind, listCauses, systemCode, systemCodes } from './failure.ts';
