// What programs of users rely on, and so what no change of wording may touch: error codes, keys of annotations and labels,
// names of metrics, reasons and other values of the API, fields of `-o json`.
import { parseSource, type SyntaxNode, visitNodes } from './syntax.ts';

export interface PublicNames {
  readonly codes: readonly string[];
  readonly keys: readonly string[];
  readonly metrics: readonly string[];
  /** Reasons, condition types, kinds, actions: every literal in PascalCase. */
  readonly values: readonly string[];
  /** Of every type in packages that make reports. */
  readonly fields: readonly string[];
}

export interface SourceFile {
  readonly path: string;
  readonly source: string;
}

const CODE = /\bSLW_[A-Z][A-Z0-9_]*\b/g;
const KEY = /^[a-z0-9-]+(\.[a-z0-9-]+)+\/[A-Za-z0-9._-]+$/;
const PASCAL_CASE = /^[A-Z][a-z0-9]+([A-Z][A-Za-z0-9]*)+$/;
const REPORTING = /^packages\/(fleet|slipway)\//;

export function collectPublicNames(files: readonly SourceFile[]): PublicNames {
  const names = { codes: new Set<string>(), keys: new Set<string>(), metrics: new Set<string>() };
  const [values, fields] = [new Set<string>(), new Set<string>()];
  for (const { path, source } of files) {
    for (const [code] of source.matchAll(CODE)) names.codes.add(code);
    visitNodes(parseSource(path, source).program, (node) => {
      const text = node['type'] === 'Literal' ? node['value'] : undefined;
      if (typeof text === 'string' && KEY.test(text)) names.keys.add(text);
      if (typeof text === 'string' && PASCAL_CASE.test(text)) values.add(text);
      const metric = readMetric(node);
      if (metric !== null) names.metrics.add(metric);
      if (node['type'] === 'TSPropertySignature' && REPORTING.test(path)) fields.add(nameOf(node['key']));
    });
  }
  return {
    codes: [...names.codes].sort(),
    keys: [...names.keys].sort(),
    metrics: [...names.metrics].sort(),
    values: [...values].sort(),
    fields: [...fields].filter((name) => name !== '').sort(),
  };
}

/** `{ name: '…', help: '…' }`, as prom-client takes it. */
function readMetric(node: SyntaxNode): string | null {
  if (node['type'] !== 'ObjectExpression' || !Array.isArray(node['properties'])) return null;
  const properties = new Map(
    node['properties'].map((property: SyntaxNode) => [nameOf(property['key']), property['value']]),
  );
  const name = properties.get('name') as SyntaxNode | undefined;
  if (!properties.has('help') || typeof name?.['value'] !== 'string') return null;
  return name['value'];
}

function nameOf(key: unknown): string {
  const node = key as SyntaxNode | undefined;
  return typeof node?.['name'] === 'string' ? node['name'] : '';
}
