// A real CRI-O for tests, on the disk of a test node (Debian with conmon and crun), in namespaces of its own: nothing of it
// is installed or mounted on this machine, and nothing is left behind, also when whoever started it is killed.
//
//   const { parts } = inject('crio');            // in *.cluster.test.ts; undefined, with the reason told, where it cannot run:
//                                                // whatever needs it is then skipped by skipIf(parts === undefined)
//   const registry = await startRegistry();      // of tools/registry: its certificate is trusted
//   const crio = await startCrio({ ...parts, registries: [registry] });
//   crio.root      the machine's root as a path for this process: the root of a Host. All is where it is on a machine:
//                  /etc/crio/crio.conf.d, /etc/containers/registries.conf, /var/lib/containers/storage, /run/crio/crio.sock
//   crio.socket    for a gRPC client: unix:${crio.socket}
//   await crio.reload()                          // as `systemctl reload crio` does
//   await crio.crictl(['images', '-o', 'json'])
//   await crio.kill(); await crio.start()        // a crash, and CRI-O again with the same images
//   await crio.stop()                            // in the end
//
// With `storeBytes` the images lie in a tmpfs of that size: a disk that gets full. `makeCrioNode` gives a node with a real
// systemd instead, on which crio.service runs, and with `kubeletFiles` and `startKubelet` a real kubelet too.
export { resolveCrio, type CrioPrograms } from './build.ts';
export { startCrio, type CrioOptions, type CrioParts, type RunningCrio } from './crio.ts';
export { kubeletFiles, startKubelet, type KubeletOptions } from './kubelet.ts';
export { makeCrioNode, type CrioNodeOptions } from './node.ts';
export { ToolsError } from '../controlplane/errors.ts';
