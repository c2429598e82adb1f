export {
  startRedfishEmulator,
  type Credentials,
  type EmulatedSystem,
  type EmulatorOptions,
  type HeldImage,
  type RunningEmulator,
} from './emulator.ts';
export { resolveIronic, type IronicProgram } from './environment.ts';
export type { HistoryEntry } from './history.ts';
export { startIronic, type IronicAccess, type IronicOptions, type RunningIronic } from './ironic.ts';
export { buildIso } from './iso.ts';
export { startIsoServer, type IsoFault, type IsoServer } from './iso-server.ts';
export { ToolsError } from '../controlplane/errors.ts';
export { startFaultProxy, type ProxiedRequest, type Fault, type FaultProxy, type FaultRule } from './fault-proxy.ts';
export { attachIsIgnored, detachIsIgnored, driveShows, hangs, isCut, nodeIsLocked, powerStateLags } from './lies.ts';
export { isIronicMissing } from './missing.ts';
