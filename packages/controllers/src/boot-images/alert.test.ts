// The alert in deploy/ uses the metric that the controllers export.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { workerA } from '@slipway/fleet/testing';
import { createMetrics } from '@slipway/kube';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { createBootImageMetrics } from './report-controller.ts';

interface PrometheusRule {
  kind: string;
  spec: {
    groups: {
      rules: { alert: string; expr: string; for: string; annotations: Record<'summary' | 'description', string> }[];
    }[];
  };
}

const file = join(import.meta.dirname, '../../../../deploy/monitoring/boot-images.yaml');

/** The metric as served while a resource fails. */
async function exportedMetric(): Promise<{ name: string; labels: string[] }> {
  const metrics = createMetrics();
  createBootImageMetrics(metrics).failing([{ resource: workerA, code: 'SLW_BOOT_IMAGES_STUB' }]);
  const all = await metrics.registry.getMetricsAsJSON();
  const [found, ...others] = all.filter(({ name }) => name.includes('boot_image'));
  if (found === undefined || others.length > 0) throw new Error('there is not one metric of boot images');
  return { name: found.name, labels: found.values.flatMap(({ labels }) => Object.keys(labels)).toSorted() };
}

it('the alert uses the exported metric, keeps all its labels, and names the MachineSet', async () => {
  const { name, labels } = await exportedMetric();
  const { kind, spec } = parse(await readFile(file, 'utf8')) as PrometheusRule;
  const kept = [...labels, 'exported_namespace'].toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
  const alert = {
    // A scrape may overwrite `namespace` with that of the scraped pod.
    expr: `max by (${kept.join(', ')}) (${name}) > 0`,
    for: '15m',
    annotations: { summary: expect.stringContaining('{{ $labels.name }}') as string },
  };
  expect({ kind, spec }).toMatchObject({ kind: 'PrometheusRule', spec: { groups: [{ rules: [alert] }] } });
  const description = spec.groups[0]?.rules[0]?.annotations.description;
  for (const label of labels) expect(description).toContain(`$labels.${label} `);
});

const order = ['namespace', 'exported_namespace', 'name', 'api', 'kind', 'code'];
