import type { NodeDisruptionPolicy } from '@slipway/fleet';
import { fileEntry } from '@slipway/testing/builders';

export interface WebConfig {
  /** What /etc/web/message says. */
  message: string;
  /** The program of web.service. */
  start?: string;
  /** A line of web.service that does nothing: the unit's file changes with it. */
  description?: string;
  /** Files that no entry of the policy covers. */
  others?: Record<string, string>;
}

/** A service that writes its message to /run/web when it starts and when it is reloaded: so one sees what it runs with. */
const SHOW = '/bin/cp /etc/web/message /run/web';

export function webConfig({ message, start = '/bin/sleep infinity', description = 'web', others = {} }: WebConfig) {
  const files = { '/etc/web/message': `${message}\n`, ...others };
  return {
    ignition: { version: '3.5.0' },
    storage: { files: Object.entries(files).map(([path, text]) => fileEntry(path, text)) },
    systemd: {
      units: [
        {
          name: 'web.service',
          enabled: true,
          contents: `[Unit]
Description=${description}
[Service]
ExecStartPre=${SHOW}
ExecStart=${start}
ExecReload=${SHOW}
[Install]
WantedBy=multi-user.target
`,
        },
      ],
    },
  };
}

/** Its file is reloaded, its unit restarted; everything else costs a reboot. */
export const webPolicy: NodeDisruptionPolicy = {
  files: [{ path: '/etc/web', actions: [{ type: 'Reload', reload: { serviceName: 'web.service' } }] }],
  units: [
    {
      name: 'web.service',
      actions: [{ type: 'DaemonReload' }, { type: 'Restart', restart: { serviceName: 'web.service' } }],
    },
  ],
};
