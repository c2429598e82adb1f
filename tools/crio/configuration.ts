import type { RegistryAccess } from '../registry/registry.ts';

export interface CrioConfiguration {
  /** Registries to pull from: their certificates are trusted, or plain HTTP is accepted. */
  registries?: readonly RegistryAccess[];
  /** More for /etc/containers/registries.conf (version 2), such as mirrors. */
  registriesConf?: string;
}

/** Paths of the programs on the machine. */
export const PROGRAMS = '/usr/local/bin';

const CRIO_CONF = `[crio]
storage_driver = "overlay"

[crio.runtime]
cgroup_manager = "cgroupfs"
conmon_cgroup = "pod"
default_runtime = "crun"
pinns_path = "${PROGRAMS}/pinns"
# It would look for iptables, and end without.
disable_hostport_mapping = true

[crio.runtime.runtimes.crun]
runtime_path = "/usr/bin/crun"
monitor_path = "/usr/bin/conmon"

[crio.nri]
enable_nri = false
`;

const CRIO_SERVICE = `[Unit]
Description=Container runtime
Before=kubelet.service

[Service]
Type=notify
ExecStart=${PROGRAMS}/crio
ExecReload=/bin/kill -s HUP $MAINPID
Delegate=yes
TasksMax=infinity
KillMode=process
Restart=on-failure
RestartSec=1

[Install]
WantedBy=multi-user.target
`;

/** The files on the machine's disk before the first start of CRI-O, by path. */
export function configure({ registries = [], registriesConf = '' }: CrioConfiguration): Record<string, string> {
  const withTls = registries.filter(({ ca }) => ca !== '');
  const plain = registries.filter(({ ca }) => ca === '');
  const insecure = plain.map(({ host }) => `[[registry]]\nlocation = "${host}"\ninsecure = true\n`);
  return {
    '/etc/crio/crio.conf': CRIO_CONF,
    '/etc/systemd/system/crio.service': CRIO_SERVICE,
    '/etc/containers/policy.json': '{"default":[{"type":"insecureAcceptAnything"}]}\n',
    '/etc/containers/registries.conf': [...insecure, registriesConf].join('\n'),
    ...Object.fromEntries(withTls.map(({ host, ca }) => [`/etc/containers/certs.d/${host}/ca.crt`, ca])),
  };
}
