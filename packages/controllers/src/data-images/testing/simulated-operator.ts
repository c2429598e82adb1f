// A simulation of the operator that Slipway runs beside: it registers the host, and powers it as spec.online and the reboot
// annotations say. Of DataImages it knows nothing.
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
  // Where it may not be switched off, it is rebooted in one go.
  if ((!isOn || isPowerOffDisabled) && reboots.some(isPlain)) {
    world.operatorChangesHost({ reboots: reboots.filter((each) => !isPlain(each)) });
  } else if (isOn !== isWantedOn) world.ironic.setPower(isWantedOn ? 'power on' : 'power off');
}
