const RENDERED = /\b(rendered-[a-z0-9.-]+-[0-9a-f]{8})[0-9a-f]{24}\b/g;

/** Of every rendered config in a text, `rendered-worker-1f2e3d4c…`: enough to tell two apart, and for `slipway rollback --to`. */
export const shortConfigs = (text: string): string => text.replaceAll(RENDERED, '$1…');

export const shortConfig = (name: string | null): string => (name === null ? '-' : shortConfigs(name));
