import type { Operation } from '../../core/operation.js';
import { type DatabaseOptions, withDatabase } from '../database.js';
import { answer } from '../output.js';
import { recordDocument, recordLines, stepDocument, stepLines } from '../record-view.js';
import { responseDocument, responseLines } from '../response-view.js';
import { found } from './found.js';

export interface ShowOptions extends DatabaseOptions {
  readonly json?: boolean;
  readonly body?: boolean;
  readonly results?: boolean;
}

/** Shows one record, with its steps and its recording. */
export async function show(operation: Operation, options: ShowOptions): Promise<void> {
  const { json = false, body = false } = options;
  await withDatabase(options, async ({ repair }) => {
    const { record, steps } = found(await repair.find(operation, { withBody: body }));
    const document = {
      ...recordDocument(record),
      steps: steps.map((step) => stepDocument(step, options)),
      response: responseDocument(record, body),
    };
    answer(json, document, () =>
      [recordLines(record), stepLines(steps, options), responseLines(record, body)]
        .filter((lines) => lines.length > 0)
        .map((lines) => lines.join('\n'))
        .join('\n\n'),
    );
  });
}
