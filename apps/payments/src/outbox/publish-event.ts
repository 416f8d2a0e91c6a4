/** The task's name, by which the queue knows who does it. Its payload is the event. */
export const PUBLISH_EVENT = 'publish-event';
