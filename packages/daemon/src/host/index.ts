// For other kinds of hosts, such as a simulated one: the contracts, and the parts that do not depend on the machine.
export { noSuchUser, readAccounts, SHADOW, withPasswordHash } from './accounts.ts';
export type { ContainerRuntime, ImageStore, RuntimeImage } from './container-runtime.ts';
export { type CalledRuntime, pullFailure, runtimeFailure } from './cri/call-failure.ts';
export { createCrioPins } from './cri/cri-o.ts';
export { createDisk } from './disk.ts';
export {
  emptyDirectory,
  type FileSystem,
  followLinks,
  makeDirectories,
  type Owners,
  ownOwners,
  readText,
  removeUnfinished,
  replaceFile,
} from './file-system.ts';
export type { Accounts, Deployment, Details, Host, OperatingSystem, OSChange, OSState, Systemd } from './host.ts';
export { changeKernelArguments, changePackages, parseDigest } from './os/deployment.ts';
export { readOSFacts } from './os/open-os.ts';
export { describeOS } from './os/os-release.ts';
export { buildUnitError } from './real-systemd.ts';
export {
  canBeEnabled,
  CONFIG_DIRECTORY,
  findUnit,
  instantiate,
  listAliases,
  listEnablingLinks,
  nameEnabled,
  parseUnitName,
  readList,
  RUNTIME_DIRECTORY,
  toTemplate,
  type Unit,
  UNIT_DIRECTORIES,
} from './unit-files.ts';
