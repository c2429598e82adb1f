// A real CRI-O for tests, on the disk of a test node (Debian with conmon and crun), in separate namespaces: nothing is
// installed or mounted on this machine, and nothing is left behind, even if the process that started it is killed.
//
//   const { parts } = inject('crio');            // in *.cluster.test.ts; undefined (it prints why) if it cannot
//                                                // run: skip what needs it with skipIf(parts === undefined)
//   const registry = await startRegistry();      // of tools/registry: its certificate is trusted
//   const crio = await startCrio({ ...parts, registries: [registry] });
//   crio.root      the machine's root as a path for this process: the root of a Host. Paths are as on a machine:
//                  /etc/crio/crio.conf.d, /etc/containers/registries.conf, /var/lib/containers/storage, /run/crio/crio.sock
//   crio.socket    for a gRPC client: unix:${crio.socket}
//   await crio.reload()                          // as `systemctl reload crio` does
//   await crio.crictl(['images', '-o', 'json'])
//   await crio.kill(); await crio.start()        // a crash, then CRI-O again with the same images
//   await crio.stop()                            // at the end
//
// With `storeBytes` the images are in a tmpfs of that size: a disk that fills up. `makeCrioNode` returns a node with a
// real systemd instead, on which crio.service runs, and with `kubeletFiles` and `startKubelet` a real kubelet too.
export { resolveCrio, type CrioPrograms } from './build.ts';
export { startCrio, type CrioOptions, type CrioParts, type RunningCrio } from './crio.ts';
export { kubeletFiles, startKubelet, type KubeletOptions } from './kubelet.ts';
export { makeCrioNode, type CrioNodeOptions } from './node.ts';
export { ToolsError } from '../controlplane/errors.ts';
