import { drainBlockedAnnotation, nodeAnnotations } from '@slipway/api/names';
import { describe, expect, it } from 'vitest';
import { createClient, KubeError } from '@slipway/kube';
import { computeSettingsDelayMs, createSettingsReader, needsUncordon, readNodeAnnotations } from './cluster-view.ts';

describe('a node that needs no drain requests to be uncordoned', () => {
  it.each<[string, string | null, string | null, boolean]>([
    ['not if it was never drained', null, null, false],
    ['if it was drained for its current config', 'drain-b', 'drain-b', true],
    ['if its drain was requested and is no longer needed', 'drain-c', null, true],
    ['until it is uncordoned', 'uncordon-b', 'drain-b', true],
    ['not after it was uncordoned', 'uncordon-b', 'uncordon-b', false],
    ['not if it was uncordoned for an earlier config', 'uncordon-a', 'uncordon-a', false],
  ])('%s', (_, desiredDrain, lastAppliedDrain, expected) => {
    expect(needsUncordon('b', { desiredDrain, lastAppliedDrain })).toBe(expected);
  });
});

describe('the annotations of a node', () => {
  const seen = (annotations?: Record<string, string>) =>
    readNodeAnnotations({
      node: { metadata: { name: 'n', ...(annotations !== undefined && { annotations }) } },
      machineConfigNode: undefined,
      machineConfiguration: undefined,
    });

  it('are empty at first', () => {
    const nothing = { currentConfig: null, desiredConfig: null, desiredDrain: null, lastAppliedDrain: null };
    expect(seen()).toEqual({ ...nothing, drainBlocked: '' });
  });

  it('include what blocks its drain', () => {
    const said = seen({ [nodeAnnotations.desiredDrain]: 'drain-b', [drainBlockedAnnotation]: 'waits for pod p' });
    expect(said).toMatchObject({ desiredDrain: 'drain-b', drainBlocked: 'waits for pod p' });
  });
});

describe('the settings are read again', () => {
  it.each<[string, string | undefined, number]>([
    ['every two minutes on a machine at its config', 'Done', 120_000],
    ['every ten seconds on a machine that waits for something', 'Degraded', 10_000],
    ['every ten seconds during an update', 'Working', 10_000],
    ['every ten seconds until the machine has reported', undefined, 10_000],
  ])('%s, spread by a quarter', (_, state, expected) => {
    const node = {
      metadata: { name: 'n', annotations: state === undefined ? {} : { [nodeAnnotations.state]: state } },
    };
    expect(computeSettingsDelayMs({ node }, () => 0.5)).toBe(expected);
    expect(computeSettingsDelayMs({ node }, () => 0)).toBe(expected * 0.75);
  });
});

describe('settings that cannot be read', () => {
  /** Answers in turn. */
  const readerOf = (...answers: object[]) =>
    createSettingsReader(
      createClient({
        server: 'memory',
        async json() {
          const answer = answers.shift();
          if (answer instanceof Error) throw answer;
          return answer;
        },
        open: () => Promise.reject(new Error('nothing is watched')),
        close: () => Promise.resolve(),
      }),
    );
  const signal = new AbortController().signal;
  const down = new KubeError('SLW_KUBE_UNREACHABLE', 'no connection');

  it('are those that were read last', async () => {
    const settings = { metadata: { name: 'cluster' }, spec: {} };
    const reader = readerOf(settings, down, new KubeError('SLW_KUBE_NOT_FOUND', 'none'), down);
    expect(await reader.read(signal)).toEqual({ machineConfiguration: settings });
    expect(await reader.read(signal)).toEqual({ machineConfiguration: settings });
    expect(await reader.read(signal)).toEqual({ machineConfiguration: undefined });
    expect(await reader.read(signal)).toEqual({ machineConfiguration: undefined });
  });

  it('keep the daemon from its first step: the policy is not known', async () => {
    await expect(readerOf(down).read(signal)).rejects.toBe(down);
  });
});
