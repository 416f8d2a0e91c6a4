export function headerValues(rawHeaders, name) {
    const lowerCased = name.toLowerCase();
    const values = [];
    for (let i = 0; i < rawHeaders.length; i += 2) {
        if (rawHeaders[i].toLowerCase() === lowerCased)
            values.push(rawHeaders[i + 1]);
    }
    return values;
}
