// Error messages of rpm-ostree, bootc and podman, with their classes.
import type { OSFailureClass } from '../os/os-commands.ts';

export const FAILURE_TEXTS: readonly { readonly is: OSFailureClass; readonly text: string }[] = [
  {
    is: 'busy',
    text: 'error: Transaction in progress: kargs --append=x \n You can cancel the current transaction with `rpm-ostree cancel`',
  },
  { is: 'busy', text: 'error: System transaction in progress' },
  { is: 'busy', text: 'error: Reboot initiated, cannot start new transaction' },
  {
    is: 'not found',
    text: 'error: Creating importer: failed to invoke method OpenImage: failed to invoke method OpenImage: reading manifest latest in quay.example/os: manifest unknown',
  },
  {
    is: 'unauthorized',
    text: 'error: Creating importer: failed to invoke method OpenImage: reading manifest latest in quay.example/os: unauthorized: access to the requested resource is not authorized',
  },
  {
    is: 'unauthorized',
    text: 'error: Creating importer: failed to invoke method OpenImage: unable to retrieve auth token: invalid username/password: unauthorized',
  },
  {
    is: 'network',
    text: 'error: Creating importer: failed to invoke method OpenImage: pinging container registry quay.example: Get "https://quay.example/v2/": dial tcp: lookup quay.example on 10.0.0.1:53: no such host',
  },
  {
    is: 'network',
    text: 'error: Failed to invoke skopeo proxy method OpenImage: remote error: pinging container registry quay.example: Get "https://quay.example/v2/": dial tcp 10.0.0.9:443: connect: connection refused',
  },
  {
    is: 'network',
    text: 'Error: copying system image from manifest list: reading blob sha256:ab: Get "https://cdn.example/ab": net/http: TLS handshake timeout',
  },
  {
    is: 'network',
    text: 'Error: initializing source docker://quay.example/os: pinging container registry quay.example: Get "https://quay.example/v2/": context deadline exceeded',
  },
  {
    is: 'network',
    text: 'Error: reading blob sha256:ab: read tcp 10.0.0.9:443: read: connection timed out',
  },
  {
    is: 'bad image',
    text: 'error: Preparing import: Fetching manifest: Target image does not have ostree.bootable label',
  },
  {
    is: 'policy',
    text: 'error: Creating importer: containers-policy.json specifies a default of `insecureAcceptAnything`; refusing usage',
  },
  {
    is: 'no space',
    text: "error: Importing: Unencapsulating base: Layer sha256:ab: min-free-space-percent '3%' would be exceeded, at least 20.5 kB requested",
  },
  { is: 'no space', text: 'error: Importing: min-free-space-size 500MB would be exceeded, at least 1.2 MB requested' },
  { is: 'no space', text: 'error: Installing kernel: regfile copy: No space left on device' },
  {
    is: 'no space',
    text: 'error: Switching (ostree): Insufficient free space for quay.example/os (available: 1 GB required: 3 GB)',
  },
  { is: 'packages', text: 'error: Packages not found: usbguard, sysstat' },
  { is: 'packages', text: "error: Package/capability 'usbguard' is already requested" },
  { is: 'packages', text: "error: Package/capability 'usbguard' is not currently requested" },
  {
    is: 'packages',
    text: 'error: "sysstat" is already provided by: sysstat-12.5.4-9.el9.x86_64. Use --allow-inactive to explicitly require it.',
  },
  { is: 'packages', text: "error: Override already exists for package 'kernel'" },
  { is: 'packages', text: "error: No overrides for package 'kernel'" },
  { is: 'packages', text: 'error: Package "kernel-modules-core" not found' },
  { is: 'locked', text: 'error: Cannot operate; `LockLayering=true` in configuration.' },
  { is: 'locked', text: 'error: Updates and deployments are driven by Zincati (zincati.service)' },
  { is: 'locked', text: 'error: rpmostreed OS operation Rebase not allowed for user' },
  { is: 'locked', text: 'error: This command must be executed as the root user' },
  { is: 'unsupported', text: 'error: This system was not booted via libostree.' },
  { is: 'unsupported', text: 'error: Unknown option --foo' },
  { is: 'unsupported', text: 'error: Detected container; this command requires a booted host system.' },
  {
    is: 'unsupported',
    text: 'error: Upgrading: Deployment contains local rpm-ostree modifications; cannot upgrade via bootc. You can run `rpm-ostree reset` to undo the modifications.',
  },
  { is: 'unknown', text: 'error: Old and new refs are equal: ostree-unverified-registry:quay.example/os' },
  { is: 'unknown', text: "error: No karg 'k=v' found" },
  { is: 'unknown', text: 'error: something that nobody has written down' },
];
