// What another kind of host is built of, such as a simulated one: the contracts, and what does not depend on the machine.
export { noSuchUser, readAccounts, SHADOW, withPasswordHash } from './account-files.ts';
export type { ContainerRuntime, ImageStore, RuntimeImage } from './container-runtime.ts';
export { type CalledRuntime, pullFailure, runtimeFailure } from './cri/call-failure.ts';
export { createCrioPins } from './cri/cri-o.ts';
export { createDisk } from './disk.ts';
export { emptyDirectory } from './empty-directory.ts';
export type { FileSystem, Owners } from './file-system.ts';
export type { Accounts, Deployment, Host, OperatingSystem, OSChange, OSState, Systemd } from './host.ts';
export { makeDirectories } from './make-directories.ts';
export { digestOf } from './os/image-name.ts';
export { changeKernelArguments } from './os/kernel-arguments.ts';
export { describeOS } from './os/os-release.ts';
export { changePackages } from './os/packages.ts';
export { ownOwners } from './own-owners.ts';
export { followLinks, readText } from './read-text.ts';
export { removeUnfinished, replaceFile } from './replace-file.ts';
