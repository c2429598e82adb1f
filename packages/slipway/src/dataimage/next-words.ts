// What happens after a DataImage was written or deleted, in a sentence.
import type { HostEntry } from '@slipway/fleet/reports';

export interface Asked {
  readonly action: 'attach' | 'detach';
  readonly namespace: string;
  readonly name: string;
  readonly immediate: boolean;
  /** By us, just now. */
  readonly reboot: boolean;
}

const provisioned: ReadonlySet<string> = new Set(['provisioned', 'externally provisioned']);

/** Host null: there is none. */
export function nextWords(asked: Asked, host: HostEntry | null): string {
  const show =
    asked.action === 'attach' ? ` slipway dataimage status ${asked.name} --namespace ${asked.namespace} shows it.` : '';
  return `${whatHappens(asked, host)}${show}`;
}

function whatHappens(asked: Asked, host: HostEntry | null): string {
  const goes = asked.action === 'attach' ? 'It is attached' : 'The ISO is taken out, and the DataImage goes,';
  if (host === null) return 'There is no such host any more: the DataImage goes at once.';
  return inTheWay(asked, host) ?? `${goes} ${whenOf(asked, host)}`;
}

function inTheWay({ action }: Asked, host: HostEntry): string | null {
  if (host.isPaused) {
    return 'The host is paused: nothing happens until its annotation baremetalhost.metal3.io/paused is removed.';
  }
  if (host.isDetached) {
    return action === 'detach'
      ? 'The host is detached, its drive out of reach: the DataImage goes, the drive stays as it is.'
      : 'The host is detached: nothing is attached until its annotation baremetalhost.metal3.io/detached is removed.';
  }
  if (action === 'detach') return null;
  if (host.isDeleting) return 'The host is being deleted: nothing is attached to it any more.';
  if (!provisioned.has(host.state)) {
    return `It is attached once the host is provisioned or externally provisioned; now it is ${host.state === '' ? 'not registered' : host.state}.`;
  }
  return null;
}

function whenOf({ namespace, name, immediate, reboot, action }: Asked, host: HostEntry): string {
  if (immediate) return 'at once; the host is not touched.';
  if (!host.isOn) {
    return host.shallBeOn
      ? 'now, for the host is off; it is switched on after that.'
      : 'now, for the host is off; it stays off, as spec.online says.';
  }
  if (reboot || host.rebootAsked) return 'in the reboot that was asked for: the host goes off, then on again.';
  if (!host.shallBeOn) return 'when the host is off, which spec.online asks for.';
  const again =
    action === 'attach'
      ? 'the same command with --reboot'
      : `kubectl annotate -n ${namespace} bmh ${name} reboot.metal3.io=`;
  return `when the host is next powered off. Nobody reboots it for that: ${again} does.`;
}
