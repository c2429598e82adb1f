/** The information in a JSON text beyond the value that JSON.parse returns. For texts that JSON.parse accepts. */
export interface RawJson {
  keysTwice: boolean;
  /** All keys of all objects, decoded. */
  keys: Set<string>;
  /** Every number as it is written. */
  numbers: string[];
}

const TOKEN = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|[{}[\],:]/gs;

/** Undefined if the text is not JSON. */
export function readRaw(text: string): RawJson | undefined {
  if (!isJson(text)) return undefined;
  const raw: RawJson = { keysTwice: false, keys: new Set(), numbers: [] };
  const open: Set<string>[] = [];
  let string = '';
  for (const [token] of text.matchAll(TOKEN)) {
    if (token.startsWith('"')) string = String(JSON.parse(token));
    else if (token === ':') addKey(raw, open.at(-1), string);
    else if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (/^[-0-9]/.test(token)) raw.numbers.push(token);
  }
  return raw;
}

/** A colon outside of a string always follows a key. Half surrogates are one character to Go. */
function addKey(raw: RawJson, object: Set<string> | undefined, key: string): void {
  const known = key.toWellFormed();
  raw.keys.add(key);
  if (object?.has(known) === true) raw.keysTwice = true;
  object?.add(known);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
