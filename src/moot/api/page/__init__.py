"""What a page that is left open all day shows: whole screens, each read in one go.

    sessions       who works on what, how alive, and what crossed: cards in groups
    conversation   what was said about one work item, in the order of the record
    messages       mail of everybody, or of one agent, with who has seen and answered it
    decisions      what is being decided and what was; one of them, with its report
    search         what holds all these words, across the protocols
    changes        which of these screens differ since the last look

Reading moves no cursor and applies no time limit. Any way in may call them; the page is one.
"""
