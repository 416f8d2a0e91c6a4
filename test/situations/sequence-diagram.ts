/** Who takes part in every situation, in this order, and who may join them. */
const CAST = ['Client', 'App', 'Handler', 'PostgreSQL'];
const GUESTS = ['Another process', 'Another transaction', 'Timeout'];

/** A line break is the only markup; the word `end` can end more than it means to. */
const TEXT = String.raw`(?<text>(?!.*\bend\b)(?:[^#;<]|<br/>)+)`;
const ARROW = '(?:-->>|->>|--x|-x)';

const PARTICIPANT = new RegExp(`^participant (?<alias>[A-Z]) as ${TEXT}$`);
const MESSAGE = new RegExp(`^(?<from>[A-Z])${ARROW}(?<to>[A-Z]): ${TEXT}$`);
const NOTE = new RegExp(`^Note over (?<from>[A-Z])(?:,(?<to>[A-Z]))?: ${TEXT}$`);
const BLOCK = new RegExp(`^(?<kind>alt|loop) ${TEXT}$`);
const BRANCH = new RegExp(`^else ${TEXT}$`);

/**
 * What is wrong with a Mermaid sequence diagram; empty if nothing is.
 *
 * It accepts a small part of the language, so that what it accepts is drawn everywhere: aliases of one letter,
 * messages that arrive or get lost, notes, and blocks. A text holds no `#` and no `;`, which end it in Mermaid's own
 * grammar: https://mermaid.js.org/syntax/sequenceDiagram.html.
 */
export function faultsIn(diagram: string): string[] {
  const [first, ...lines] = diagram.trim().split('\n');
  if (first !== 'sequenceDiagram') return ['It does not begin with `sequenceDiagram`.'];
  const names = new Map<string, string>();
  const blocks: string[] = [];
  const faults: string[] = [];
  let messages = 0;

  for (const line of lines.map((indented) => indented.trim())) {
    const [participant, message, note, block, branch] = [PARTICIPANT, MESSAGE, NOTE, BLOCK, BRANCH].map(
      (form) => form.exec(line)?.groups,
    );
    if (participant) {
      if (messages > 0) faults.push(`Declared too late: ${line}`);
      if (names.has(participant.alias!)) faults.push(`Declared twice: ${line}`);
      names.set(participant.alias!, participant.text!);
    } else if (message ?? note) {
      const { from, to = from } = (message ?? note)!;
      for (const alias of [from!, to!]) if (!names.has(alias)) faults.push(`Nobody is called ${alias}: ${line}`);
      messages++;
    } else if (block) {
      blocks.push(block.kind!);
    } else if (branch) {
      if (blocks.at(-1) !== 'alt') faults.push(`A branch of nothing: ${line}`);
    } else if (line === 'end') {
      if (!blocks.pop()) faults.push('An `end` of nothing.');
    } else {
      faults.push(`Not understood: ${line}`);
    }
  }
  for (const kind of blocks) faults.push(`Not ended: ${kind}`);
  if (messages === 0) faults.push('Nothing happens.');
  return [...faults, ...faultsInCast([...names.values()])];
}

function faultsInCast(names: readonly string[]): string[] {
  const faults = CAST.some((name, at) => names[at] !== name) ? [`It does not begin with ${CAST.join(', ')}.`] : [];
  const strangers = names.slice(CAST.length).filter((name) => !GUESTS.includes(name));
  return [...faults, ...strangers.map((name) => `A stranger takes part: ${name}`)];
}
