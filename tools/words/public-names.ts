// What programs of users rely on, and so what no change of wording may touch: error codes, keys of annotations and labels,
// names of metrics, reasons and other values of the API, fields of `-o json`.
import { parseSync, Visitor } from 'rolldown/utils';

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
    new Visitor({
      Literal: ({ value }) => {
        if (typeof value !== 'string') return;
        if (KEY.test(value)) names.keys.add(value);
        if (PASCAL_CASE.test(value)) values.add(value);
      },
      // `{ name: '…', help: '…' }`, as prom-client takes it.
      ObjectExpression: ({ properties }) => {
        const byKey = new Map(
          properties.flatMap((each) => (each.type === 'Property' ? [[readKey(each.key), each.value]] : [])),
        );
        const name = byKey.get('name');
        if (byKey.has('help') && name?.type === 'Literal' && typeof name.value === 'string')
          names.metrics.add(name.value);
      },
      TSPropertySignature: ({ key }) => {
        if (REPORTING.test(path)) fields.add(readKey(key));
      },
    }).visit(parseSync(path, source).program);
  }
  return {
    codes: [...names.codes].sort(),
    keys: [...names.keys].sort(),
    metrics: [...names.metrics].sort(),
    values: [...values].sort(),
    fields: [...fields].filter((name) => name !== '').sort(),
  };
}

const readKey = (key: { readonly type: string; readonly name?: unknown }): string =>
  key.type === 'Identifier' && typeof key.name === 'string' ? key.name : '';
