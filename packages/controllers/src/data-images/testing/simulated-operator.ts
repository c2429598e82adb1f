// A simulation of the operator that Slipway runs alongside: it registers the host, and controls its power by
// spec.online and the reboot annotations. It does not know DataImages.
import { type ObservedHost, isPlain } from '@slipway/fleet/hosts';
import type { SimulatedWorld } from './simulated-world.ts';

export function runOperator(world: SimulatedWorld): void {
  const { ironic, host } = world;
  if (host === null || host.object.isPaused || ironic.isWorking) return;
  if (!ironic.hasNode) ironic.makeActive();
  const isOn = ironic.power === 'on';
  if (host.object.state !== 'provisioned' || host.object.poweredOn !== isOn) {
    world.operatorChangesHost({ state: 'provisioned', poweredOn: isOn });
  } else powerAsWanted(world, host.object, isOn);
}

function powerAsWanted(
  world: SimulatedWorld,
  { online, reboots, isPowerOffDisabled }: ObservedHost,
  isOn: boolean,
): void {
  const isWantedOn = (isOn && isPowerOffDisabled) || (online && reboots.length === 0);
  // If a power-off is forbidden, it reboots in one step.
  if ((!isOn || isPowerOffDisabled) && reboots.some(isPlain)) {
    world.operatorChangesHost({ reboots: reboots.filter((each) => !isPlain(each)) });
  } else if (isOn !== isWantedOn) world.ironic.setPower(isWantedOn ? 'power on' : 'power off');
}
