export {
  agentDefaults,
  type AgentOptions,
  type Certificates,
  createAgent,
  inspectCertificates,
  trustAuthorities,
} from './agent.ts';
export {
  createDeadline,
  createRestingHosts,
  type Deadline,
  MAX_RETRY_AFTER_MS,
  parseRetryAfter,
  readBounded,
  type RestingHosts,
  throwIfStopped,
} from './exchange.ts';
export { classifyFailure, type Failure, type FailureKind, listCauses, systemCode, systemCodes } from './failure.ts';
export {
  type AddressCheck,
  checkedLookup,
  type LookupAll,
  type ResolvedAddress,
  resolveHost,
  systemLookup,
} from './lookup.ts';
