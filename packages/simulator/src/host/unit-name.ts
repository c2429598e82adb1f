export interface UnitName {
  readonly prefix: string;
  /** undefined: neither template nor instance; '': the template itself. */
  readonly instance: string | undefined;
  /** `.service` */
  readonly suffix: string;
}

export function parseUnitName(name: string): UnitName {
  const dot = name.lastIndexOf('.');
  const stem = dot === -1 ? name : name.slice(0, dot);
  const at = stem.indexOf('@');
  return {
    prefix: at === -1 ? stem : stem.slice(0, at),
    instance: at === -1 ? undefined : stem.slice(at + 1),
    suffix: dot === -1 ? '' : name.slice(dot),
  };
}

/** `getty@.service` of `getty@tty1.service`; undefined for what is no instance. */
export function templateOf(name: string): string | undefined {
  const { prefix, instance, suffix } = parseUnitName(name);
  return instance === undefined || instance === '' ? undefined : `${prefix}@${suffix}`;
}

export function instantiate(template: string, instance: string): string {
  const { prefix, suffix } = parseUnitName(template);
  return `${prefix}@${instance}${suffix}`;
}

/** The few specifiers that make sense in [Install]. */
export function expandSpecifiers(text: string, unit: string): string {
  const { prefix, instance = '' } = parseUnitName(unit);
  const values: Readonly<Record<string, string>> = { '%n': unit, '%p': prefix, '%i': instance, '%%': '%' };
  return text.replaceAll(/%[npi%]/g, (specifier) => values[specifier] ?? specifier);
}
