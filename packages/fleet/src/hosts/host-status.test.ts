import { describe, expect, it } from 'vitest';
import { hostStatus } from './host-status.ts';
import { DEFAULT_STEP_OPTIONS } from './host-step.ts';
import { nextHostStep } from './next-host-step.ts';
import { sampleHostMemory, buildFacts, type FactsInput, off } from './testing/facts.ts';

/** With the step that is next. */
function computeStatus(given: FactsInput) {
  const facts = buildFacts(given);
  return hostStatus(facts, nextHostStep(facts, DEFAULT_STEP_OPTIONS));
}

const wrong = sampleHostMemory({ failures: 2, message: 'wrong password' });
const fresh = { state: '' };

describe('status of a host', () => {
  it('that is healthy', () => {
    expect(computeStatus({})).toEqual({
      operationalStatus: 'OK',
      poweredOn: true,
      errorType: undefined,
      errorMessage: '',
      errorCount: 0,
      provisioning: { ID: 'node-1', state: 'externally provisioned' },
      credentials: 'good',
    });
  });

  it.each<[string, FactsInput, string]>([
    ['new', { host: fresh, node: null }, 'registering'],
    ['new, known to Ironic', { host: fresh, node: { provisionState: 'manageable' } }, 'registering'],
    ['adopted', { host: fresh }, 'externally provisioned'],
    ['forgotten by Ironic', { node: null }, 'externally provisioned'],
    ['deleted', { host: { isDeleting: true } }, 'deleting'],
  ])('that is %s has the Metal3 state', (_, given, state) => {
    expect(computeStatus(given).provisioning.state).toBe(state);
  });

  it.each<[string, FactsInput, string, RegExp]>([
    [
      'wrong password, new',
      { host: { ...fresh, memory: wrong }, node: { provisionState: 'enroll' } },
      'registration error',
      /wrong password/,
    ],
    [
      'wrong password, known',
      { host: { memory: wrong }, node: { provisionState: 'enroll' } },
      'provisioned registration error',
      /wrong password/,
    ],
    [
      'no Secret',
      { host: { ...fresh, bmc: { ok: false, code: 'SLW_BMC_CREDENTIALS', message: 'no Secret' } }, node: null },
      'registration error',
      /no Secret \[SLW_BMC_CREDENTIALS\]/,
    ],
    [
      'power',
      { host: { memory: sampleHostMemory({ failures: 1, message: 'power on: no' }) } },
      'power management error',
      /power on: no/,
    ],
    [
      'maintenance',
      { node: { maintenance: true, lastError: 'no power' } },
      'power management error',
      /no power.*SLW_IRONIC_MAINTENANCE/,
    ],
    [
      'a node used by others',
      { node: { provisionState: 'cleaning' } },
      'registration error',
      /found cleaning.*SLW_IRONIC_NODE_STATE/,
    ],
    ['no power state', { node: { powerState: null } }, 'power management error', /SLW_IRONIC_POWER_UNKNOWN/],
    [
      'a reboot of a host that may not be switched off',
      { host: { isPowerOffDisabled: true, reboots: [{ key: 'fence', mode: 'soft', since: 0 }] } },
      'power management error',
      /stays on: annotation reboot\.metal3\.io\/fence.*spec\.disablePowerOff is true.*by hand/,
    ],
    [
      'a host that must not be powered off but has spec.online false',
      { host: { isPowerOffDisabled: true, online: false } },
      'power management error',
      /stays on: spec\.online is false, but spec\.disablePowerOff is true/,
    ],
  ])('reports the problem: %s', (_, given, errorType, message) => {
    const status = computeStatus(given);
    expect(status).toMatchObject({ operationalStatus: 'error', errorType });
    expect(status.errorMessage).toMatch(message);
    expect(status.errorCount).toBeGreaterThan(0);
  });

  it('that must not be powered off is healthy without such a request', () => {
    expect(computeStatus({ host: { isPowerOffDisabled: true } }).operationalStatus).toBe('OK');
    const isOff = { host: { isPowerOffDisabled: true, online: false }, node: off };
    expect(computeStatus(isOff).operationalStatus).toBe('OK');
  });

  it.each<[string, FactsInput, boolean]>([
    ['off', { node: off }, false],
    ['unknown to Ironic, as it was', { node: { powerState: null }, host: { poweredOn: false } }, false],
    ['unknown to Ironic, as it was', { node: null, host: { poweredOn: true } }, true],
  ])('is powered: %s', (_, given, poweredOn) => {
    expect(computeStatus(given).poweredOn).toBe(poweredOn);
  });

  it('that is detached reports that, and no error', () => {
    const status = computeStatus({ host: { isDetached: true, memory: wrong }, node: null });
    expect(status).toMatchObject({ operationalStatus: 'detached', errorType: undefined, errorMessage: '' });
  });

  it.each<[string, FactsInput, string]>([
    ['not tried before Ironic knows the host', { node: null }, 'not tried'],
    ['not tried after they have changed', { node: { sentDigest: 'before' } }, 'not tried'],
    ['tried once sent', { node: { provisionState: 'enroll' } }, 'tried'],
    ['good once the BMC has accepted them', { node: { provisionState: 'manageable' } }, 'good'],
    ['only tried while something fails', { host: { memory: wrong } }, 'tried'],
  ])('has credentials that are %s', (_, given, credentials) => {
    expect(computeStatus(given).credentials).toBe(credentials);
  });
});
