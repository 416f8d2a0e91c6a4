import type { Report, Subject } from './ports.js';

/** The same report, all of it about one subject. */
export function about(report: Report, subject: Subject): Report {
  return (message, error) => report(message, error, subject);
}
