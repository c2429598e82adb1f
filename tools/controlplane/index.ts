export { resolveBinaries, type ResolveOptions } from './binaries.ts';
export { ensureAuthority, ensureIdentity, type Identity } from './certificates.ts';
export { borrowControlPlane } from './lending.ts';
export { waitForLock } from './lock.ts';
export { pickFreePort } from './ports.ts';
export { startControlPlane, type ControlPlane, type ControlPlaneOptions } from './control-plane.ts';
export { ToolsError, type ToolsErrorCode } from './errors.ts';
export type { ProgramName } from './programs.ts';
export { silentProgress, terminalProgress, type Progress } from './progress.ts';
